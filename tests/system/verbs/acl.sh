# reeve acl: rules for ACL SETUSER. For st_json.sh.
prints acl 0 acl viewer --queue mail
