# reeve doctor: problems, which make it fail. For st_json.sh.
prints doctor 1 doctor
expect_eq "$CODE" findings
