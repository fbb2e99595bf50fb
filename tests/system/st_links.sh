#!/usr/bin/env bash
# The links of the documents lead to what is there: files of the tree, and headings of documents.
. "$(dirname "$0")/lib.sh"
cd "$REEVE_SOURCE" || exit 1

# headings FILE: the anchors of a document, as its readers make them: lower case, spaces to dashes, no punctuation.
headings() {
  sed -n '/^```/,/^```/d; s/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

WRONG=0 SEEN=0
for document in README.md CHANGELOG.md CONTRIBUTING.md docs/*.md examples/*/README.md; do
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
expect_eq "$WRONG" 0 "links that lead nowhere"
[ "$SEEN" -gt 20 ] || fail "only $SEEN links were found"
