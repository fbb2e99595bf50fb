# st_locale.sh - the functions of C that write or read numbers with a fraction use the decimal point of the program's locale, which
# may be a comma. What is in the library, or writes for machines, uses base/decimal.h.
. "$(dirname "$0")/lib.sh"

: "${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
cd "$REEVE_SOURCE" || exit 1

FORMAT='"[^"]*%[-+#0]*([0-9]+|\*)?(\.([0-9]+|\*)?)?[lL]?[fFeEgGaA][^"]*"'
FUNCTION='(^|[^a-z_])(strtod|strtof|strtold|atof)\('

# offenders FILE...: lines with such a conversion or function.
offenders() { grep -HnE "$FORMAT|$FUNCTION" "$@"; }

# (programs/cli, bench and run write tables for people, but JSON for machines.)
mapfile -t files < <(find src plugins include -name '*.[ch]' ! -path src/base/decimal.c \
    \( -name '*json*' -o ! -path 'src/programs/cli/*' ! -path 'src/programs/bench/*' ! -path 'src/programs/run/*' \) | sort)
[ "${#files[@]}" -gt 100 ] || fail "no files were found"
found=$(offenders "${files[@]}")
[ -z "$found" ] || fail "these numbers depend on the locale, use base/decimal.h: $found"

# What the test is for is found.
printf '%s\n' 'f("a %.2f", x);' 'x = strtod(text, NULL);' 'f("%d%g", 1, 2);' 'f("%.*lf", 1, 2);' >"$TEST_DIR/bad.c"
[ "$(offenders "$TEST_DIR/bad.c" | wc -l)" = 4 ] || fail "bad lines are not found"
printf '%s\n' 'f("%lld", x);' 'f("%u for all", n);' 'f("100 % free");' >"$TEST_DIR/good.c"
! offenders "$TEST_DIR/good.c" || fail "good lines are found"
exit 0
