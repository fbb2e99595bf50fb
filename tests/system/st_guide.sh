# st_guide.sh - the guide (docs/guide.md, docs/guide/*.md) and docs/operations.md do what they say. Each section gets an empty
# Redis, a directory and a shell, in which its blocks run in order. The info string of a block says what it is:
#
#   sh    Commands for the shell of the section. A text block that follows is the expected output of the sh block, on standard
#         output and standard error. An sh block without a text block must print nothing. In a text block, "..." matches any
#         text within a line. A line that is only "..." matches any number of lines. Several blanks match one blank.
#   conf  A file for reeve-worker -c. Its first line names it. The files of the first section of guide.md exist in all sections
#         of all pages.
#   c     With a file name on its first line (say.c): a plugin, if it has a line REEVE_PLUGIN, else a program. It is compiled
#         before the section runs, to say.so or to say. Without a file name: the body of a function with a parameter
#         reeve_client *client. It is compiled into a program, which runs at the position of the block.
#
# A block that is not run has a comment "not run: WHY" on the line before it.
#
# GUIDE=FILE runs another file instead; ONLY=WORDS only the sections whose titles have these words.
. "$(dirname "$0")/lib.sh"

# A worker whose handlers do not return, as one section shows, ends without waiting for their threads.
export TSAN_OPTIONS="${TSAN_OPTIONS:-} report_thread_leaks=0"

: "${REEVE_SOURCE:=$(cd "$(dirname "$0")/../.." && pwd)}"
if [ -n "${GUIDE:-}" ]; then PAGES=("$GUIDE"); else PAGES=("$REEVE_SOURCE"/docs/guide.md "$REEVE_SOURCE"/docs/guide/*.md "$REEVE_SOURCE"/docs/operations.md); fi
BLOCKS=$TEST_DIR/blocks
# Those of the build directory, by the names that a reader types.
export PATH="$REEVE_BUILD/bin:$PATH" REEVE_PLUGIN_DIR="$PLUGIN_DIR" LD_LIBRARY_PATH="$REEVE_BUILD/src"

# ---- reading -------------------------------------------------------------------------------------------------------

# A directory for each section, 1, 2, ...: title; N.sh, N.c (snippets), N.out for its blocks; files/ what blocks name.
# The number of a block is the line on which it begins.
take_apart() {
    mkdir -p "$BLOCKS"
    awk -v out="$BLOCKS" '
        function complain(words) { printf "%s:%d: %s\n", FILENAME, FNR, words > "/dev/stderr"; bad = 1 }
        function open(file_) { file = file_; printf "" > file }
        # "# name" or "/* name */" on the first line of a block: it is that file.
        function named(line) {
            if (lang == "conf" && line ~ /^# [A-Za-z0-9_-]+\.conf$/) return substr(line, 3)
            if (lang == "c" && line ~ /^\/\* [A-Za-z0-9_-]+\.c \*\/$/) return substr(line, 4, length(line) - 6)
            return ""
        }
        function begin_block(  name) {
            name = named($0)
            fresh = 0
            if (lang == "conf" && name == "") {
                complain("a conf block begins with \"# NAME.conf\"")
                name = "nameless.conf"
            }
            open(dir "/" (name != "" ? "files/" name : sprintf("%05d.%s", start, lang == "text" ? "out" : lang)))
        }
        /^```/ && !inside {
            inside = 1; fresh = 1; start = FNR; lang = substr($0, 4)
            if (lang !~ /^(sh|text|conf|c)$/) { complain("a block is sh, text, conf or c"); lang = "text" }
            if (section == 0) complain("a block before the first section")
            if (skip && lang != "text") lang = "skipped"
            else if (lang == "text" && last !~ /^(sh|c|skipped)$/) complain("this is the output of nothing")
            else if (lang == "text") start = last_start
            skip = 0
            next
        }
        /^```$/ && inside {
            if (fresh) complain("an empty block")
            inside = 0; last = lang; last_start = start
            if (lang != "skipped") close(file)
            next
        }
        inside {
            if (fresh && lang == "text" && last == "skipped") lang = "skipped"
            if (lang == "skipped") { fresh = 0; next }
            if (fresh) begin_block()
            print > file
            next
        }
        /^## / {
            dir = sprintf("%s/%02d", out, ++section)
            system("mkdir -p " dir "/files")
            print substr($0, 4) > (dir "/title"); close(dir "/title")
            print FILENAME > (dir "/page"); close(dir "/page")
            last = ""
            next
        }
        /^<!-- not run: .+ -->$/ { skip = 1; next }
        skip && NF > 0 { complain("\"not run\" belongs right before a block"); skip = 0 }
        END { if (inside) complain("a block without end"); exit bad }
    ' "${PAGES[@]}" || fail "a page is not as the head of guide.md says"
}

# ---- C -------------------------------------------------------------------------------------------------------------

SANITIZE=$(sed -n 's/^REEVE_SANITIZE:[A-Z]*=//p' "$REEVE_BUILD/CMakeCache.txt")
COMPILER=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$REEVE_BUILD/CMakeCache.txt")

# compile SOURCE TARGET [FLAG...]
compile() {
    local source=$1 target=$2
    shift 2
    run "${COMPILER:-cc}" -std=c11 -O1 -Wall -Wextra -Werror ${SANITIZE:+-fsanitize=$SANITIZE} "$@" \
        -I"$REEVE_SOURCE/include" -o "$target" "$source" -L"$REEVE_BUILD/src" -lreeve
    [ "$STATUS" = 0 ] || fail "$(basename "$source") of \"$TITLE\" does not compile"
}

# A block without a name is what a function does with a client.
wrap() {
    cat <<END
#include <reeve/reeve.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void example(reeve_client *client)
{
#line $((10#$(basename "$1" .c) + 1)) "$GUIDE"
$(cat "$1")
}
int main(void)
{
    reeve_client *client;
    char words[512] = "";
    if (reeve_client_open_with_error(&client, &(reeve_client_options){0}, words, sizeof(words)) != REEVE_OK) puts(words);
    else example(client);
    reeve_client_close(client);
    return 0;
}
END
}

# compile_all SECTION DIRECTORY: programs and plugins under their names, snippets as DIRECTORY/.N.
compile_all() {
    local source name
    for source in "$2"/*.c; do
        [ -e "$source" ] || continue
        name=${source%.c}
        if grep -q '^REEVE_PLUGIN(' "$source"; then
            compile "$source" "$name.so" -shared -fPIC
        else
            compile "$source" "$name"
        fi
    done
    for source in "$1"/*.c; do
        [ -e "$source" ] || continue
        name=$(basename "$source" .c)
        wrap "$source" >"$2/.$name.c"
        compile "$2/.$name.c" "$2/.$name"
    done
}

# ---- running -------------------------------------------------------------------------------------------------------

# What the shell of a section does: its blocks in order, each with its end marked; workers end with it.
script_of() {
    local block name
    echo 'trap '\''trap - EXIT; kill $(jobs -p) 2>/dev/null; wait'\'' EXIT; ulimit -c 0'
    for block in "$1"/*.sh "$1"/*.c; do [ -e "$block" ] && basename "$block"; done | sort | while read -r block; do
        name=${block%.*}
        case $block in
        *.sh) cat "$1/$block" ;;
        *.c) echo "./.$name" ;;
        esac
        printf 'printf "\\n<<<%s>>>\\n"\n' "$name"
    done
}

# pattern_of FILE: sets PATTERN to the extended regular expression for an expected output: "..." is anything on a line, a line of it any
# lines. (One process for all its lines; so it is with the next function.)
pattern_of() {
    local line
    PATTERN=
    while IFS= read -r line; do
        if [ "$line" = '\.\.\.' ]; then
            PATTERN+=$'([^\n]*\n)*'
        else
            PATTERN+=${line//\\.\\.\\./$'[^\n]*'}$'\n'
        fi
    done < <(sed 's/   */ /g; s/[][\\.^$*+?(){}|]/\\&/g' "$1")
    PATTERN="^$PATTERN\$"
}

# split_output PRINTED DIRECTORY: what each block printed, in a file of its name, with one blank for several. (From the end of the block
# before, without the empty line that stands before the mark.)
split_output() {
    mkdir "$2"
    awk -v to="$2/" '
        /^<<<[0-9]+>>>$/ { file = to substr($0, 4, length($0) - 6); sub(/\n$/, "", text); printf "%s", text > file; close(file); text = ""; next }
        { gsub(/  +/, " "); text = text $0 "\n" }' "$1"
}

# compare SECTION OUTPUT: each block printed what stands behind it, or nothing. Returns 1 when one did not.
compare() {
    local section=$1 printed=$2 block name actual wrong=0
    split_output "$printed" "$printed.blocks"
    for block in "$section"/*.sh "$section"/*.c; do
        [ -e "$block" ] || continue
        name=${block##*/} name=${name%.*}
        [ -e "$printed.blocks/$name" ] || { echo "$GUIDE:$((10#$name)): did not come to its end" >&2; return 1; }
        IFS= read -r -d '' actual <"$printed.blocks/$name"
        PATTERN='^$'
        [ ! -e "${block%.*}.out" ] || pattern_of "${block%.*}.out"
        # (A block whose output has no end of line at its end is no other.)
        [ -z "$actual" ] || [ "${actual: -1}" = $'\n' ] || actual+=$'\n'
        [[ $actual =~ $PATTERN ]] && continue
        wrong=1
        { echo "$GUIDE:$((10#$name)): printed"; sed 's/^/    /' <<<"${actual%$'\n'}"
          echo "  instead of"; sed 's/^/    /' "${block%.*}.out" 2>/dev/null; } >&2
    done
    return $wrong
}

# run_section DIRECTORY: its files checked and compiled, its blocks run, what they print compared.
run_section() {
    local section=$1 place conf
    TITLE=$(cat "$section/title")
    GUIDE=$(cat "$section/page")
    place=$TEST_DIR/run.$(basename "$section")
    mkdir "$place"
    # (What the first section writes down is there in all.)
    cp "$BLOCKS"/01/files/* "$section"/files/* "$place/" 2>/dev/null
    compile_all "$section" "$place"
    for conf in "$section"/files/*.conf; do
        [ -e "$conf" ] || continue
        (cd "$place" && expect_status 0 reeve-worker -c "$(basename "$conf")" --check) || exit 1
    done
    redis FLUSHALL >/dev/null
    script_of "$section" >"$place/.script"
    (cd "$place" && TZ=UTC timeout 150 bash .script >.printed 2>&1 </dev/null)
    if ! compare "$section" "$place/.printed"; then
        tail -n 20 "$place"/*.log >&2
        fail "section \"$TITLE\""
    fi
    # (Reports of sanitizers are looked for in the logs that lie here; a task that crashes leaves one.)
    grep -q 'enqueue [a-z]* crash' "$place/.script" || cat "$place"/*.log >>"$TEST_DIR/sections.log" 2>/dev/null
    BLOCKS_RUN=$((BLOCKS_RUN + $(grep -c '^<<<' "$place/.printed")))
    rm -rf "$place"
}

take_apart
start_redis
BLOCKS_RUN=0
for section in "$BLOCKS"/*/; do
    section=${section%/}
    case $(cat "$section/title") in *"${ONLY:-}"*) run_section "$section" ;; esac
done
[ "$BLOCKS_RUN" -gt 0 ] || fail "no block was run"
echo "$BLOCKS_RUN blocks of the guide do what they say"
