#!/usr/bin/env bash
# The links of the documents, in the source and where they are installed, lead to what is there: files of the tree, and headings
# of documents.
. "$(dirname "$0")/lib.sh"

# headings FILE: the anchors of a document, as its readers make them: lower case, spaces to dashes, no punctuation.
headings() {
  sed -n '/^```/,/^```/d; s/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# check: all documents below the current directory.
check() {
  WRONG=0 SEEN=0
  for document in README.md CHANGELOG.md CONTRIBUTING.md docs/*.md docs/guide/*.md examples/*/README.md; do
    while read -r link; do
      case $link in
      http:* | https:* | mailto:*) continue ;;
      esac
      SEEN=$((SEEN + 1))
      file=${link%%#*}
      target=$document
      [ -z "$file" ] || target=$(dirname "$document")/$file
      if [ ! -e "$target" ]; then
        echo "$document: $link: there is no $target" >&2
        WRONG=$((WRONG + 1))
      elif [ "$link" != "$file" ] && ! headings "$target" | grep -qxF -- "${link#*#}"; then
        echo "$document: $link: $target has no such heading" >&2
        WRONG=$((WRONG + 1))
      fi
    done < <(sed '/^```/,/^```/d; s/`[^`]*`//g' "$document" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//')
  done
  expect_eq "$WRONG" 0 "links that lead nowhere in $PWD"
  [ "$SEEN" -gt 20 ] || fail "only $SEEN links were found in $PWD"
}

cd "$REEVE_SOURCE" || exit 1
check
expect_status 0 cmake --install "$REEVE_BUILD" --prefix "$TEST_DIR/prefix"
cd "$TEST_DIR/prefix/share/doc/reeve" || fail "no documents are installed"
check
