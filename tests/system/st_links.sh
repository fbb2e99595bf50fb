#!/usr/bin/env bash
# The links of the documents, in the source and where they are installed, lead to what is there: files of the tree, and headings
# of documents.
. "$(dirname "$0")/lib.sh"

# read_documents FILE...: "heading FILE#ANCHOR" for each heading, its anchor as its readers make it: lower case, spaces to dashes, no
# punctuation; and "link FILE LINK" for each link.
read_documents() {
  awk '
    FNR == 1 { code = 0 }
    /^```/ { code = !code; next }
    code { next }
    /^#+ / {
      anchor = tolower($0); sub(/^#+ /, "", anchor); gsub(/[^a-z0-9 _-]/, "", anchor); gsub(/ /, "-", anchor)
      print "heading", FILENAME "#" anchor
    }
    {
      line = $0; gsub(/`[^`]*`/, "", line)
      while (match(line, /\]\([^) ]+\)/)) {
        print "link", FILENAME, substr(line, RSTART + 2, RLENGTH - 3); line = substr(line, RSTART + RLENGTH)
      }
    }' "$@"
}

# check: all documents below the current directory.
check() {
  local what document link file target
  local -A headings=()
  WRONG=0 SEEN=0
  read_documents README.md CHANGELOG.md CONTRIBUTING.md docs/*.md docs/guide/*.md examples/*/README.md >"$TEST_DIR/documents"
  while read -r what document; do
    [ "$what" != heading ] || headings[$document]=1
  done <"$TEST_DIR/documents"
  while read -r what document link; do
    case $what,$link in heading,* | *,http:* | *,https:* | *,mailto:*) continue ;; esac
    SEEN=$((SEEN + 1))
    file=${link%%#*}
    target=$document
    [ -z "$file" ] || { [[ $document == */* ]] && target=${document%/*}/$file || target=$file; }
    while [[ $target =~ ^(.*/)?[^/.][^/]*/\.\./(.*)$ ]]; do target=${BASH_REMATCH[1]}${BASH_REMATCH[2]}; done
    if [ ! -e "$target" ]; then
      echo "$document: $link: there is no $target" >&2
      WRONG=$((WRONG + 1))
    elif [ "$link" != "$file" ] && [ -z "${headings[$target#${link#*#}]:-}" ]; then
      echo "$document: $link: $target has no such heading" >&2
      WRONG=$((WRONG + 1))
    fi
  done <"$TEST_DIR/documents"
  expect_eq "$WRONG" 0 "links that lead nowhere in $PWD"
  [ "$SEEN" -gt 20 ] || fail "only $SEEN links were found in $PWD"
  echo "$SEEN links"
}

cd "$REEVE_SOURCE" || exit 1
check
expect_status 0 cmake --install "$REEVE_BUILD" --prefix "$TEST_DIR/prefix"
cd "$TEST_DIR/prefix/share/doc/reeve" || fail "no documents are installed"
check
# What it looks for is found.
printf '%s\n' '[a](guide.md#no-such-heading)' '[b](nowhere.md)' >>docs/json.md
(check) 2>"$TEST_DIR/said" && fail "links that lead nowhere are not found"
expect_has "$(cat "$TEST_DIR/said")" "docs/guide.md has no such heading"
expect_has "$(cat "$TEST_DIR/said")" "there is no docs/nowhere.md"
