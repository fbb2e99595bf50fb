/*
 * json_shape.c - whether JSON has the shape that docs/json.md says.
 *
 *     json_shape DOC SEEN COMMAND   standard input is what COMMAND prints: a row of the table of commands; or, with a
 *                                   colon before it, lines of that shape (":error")
 *     json_shape DOC SEEN --unseen  which commands and members never had a value in the runs before; 1 when there are
 * some json_shape DOC SEEN --commands  the commands that the document knows
 *
 * SEEN is a file that collects what was seen. In the document a row "| `command` | one `shape` |" is a command, and the
 * rows of the table below a heading "### `shape`" are its members: "| `name` | type | words |"; or, when its head is
 * "value", the values of an enumeration. Types: text, whole, real, time, span, flag, bytes, anything, a shape or
 * enumeration in backticks, list of or map of a type; behind it " or null", ", may be absent".
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 1000
#define WORD_MAX 100
#define LINE_MAX_BYTES (16 * 1024 * 1024)

/* One row of the document. */
typedef struct row {
    char shape[WORD_MAX]; /* "" of a command */
    char name[WORD_MAX];  /* of the command, member or value */
    char type[WORD_MAX];  /* "" of a value */
} row;

static row rows[ROWS_MAX];
static size_t row_count;
static FILE *seen;
static const char *at_command = "";
static size_t at_line;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
    va_list arguments;

    (void)fprintf(stderr, "json_shape: %s: line %zu: ", at_command, at_line);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    exit(1);
}

/* ---- the document ---------------------------------------------------------------------------------------------- */

/* The text between the first two marks; false: there are none. */
static bool between(const char *text, const char *mark, char ret[WORD_MAX])
{
    const char *from = strstr(text, mark), *to = from == NULL ? NULL : strstr(from + 1, mark);

    if (to == NULL || (size_t)(to - from) > WORD_MAX) return false;
    (void)snprintf(ret, WORD_MAX, "%.*s", (int)(to - from - 1), from + 1);
    return true;
}

/* The second cell, without the blanks around it. */
static bool second_cell(const char *line, char ret[WORD_MAX])
{
    const char *from = strchr(line + 1, '|'), *to = from == NULL ? NULL : strchr(from + 1, '|');

    if (to == NULL) return false;
    for (from++; *from == ' ';) from++;
    while (to > from && to[-1] == ' ') to--;
    if (to - from >= WORD_MAX) return false;
    (void)snprintf(ret, WORD_MAX, "%.*s", (int)(to - from), from);
    return true;
}

static void add_row(const char *shape, const char *line, bool values)
{
    row *added = &rows[row_count];

    if (!between(line, "`", added->name) || (!values && !second_cell(line, added->type))) die("no row: %s", line);
    (void)snprintf(added->shape, sizeof(added->shape), "%s", shape);
    if (values) added->type[0] = '\0';
    if (++row_count == ROWS_MAX) die("too many rows");
}

static void read_document(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[2000], shape[WORD_MAX] = "";
    bool inside = false, values = false;

    at_command = path;
    if (file == NULL) die("cannot be read");
    while (fgets(line, sizeof(line), file) != NULL) {
        at_line++;
        if (strncmp(line, "### ", 4) == 0 && !between(line, "`", shape)) die("a heading without a name");
        if (strncmp(line, "## ", 3) == 0) shape[0] = '\0';
        if (strncmp(line, "| command |", 11) == 0 || strncmp(line, "| member |", 10) == 0 ||
            strncmp(line, "| value |", 9) == 0) {
            inside = true;
            values = line[2] == 'v';
        } else if (line[0] != '|') {
            inside = false;
        } else if (inside && strncmp(line, "|---", 4) != 0) {
            add_row(shape, line, values);
        }
    }
    (void)fclose(file);
    at_line = 0;
}

static bool is_shape(const char *name)
{
    for (size_t i = 0; i < row_count; i++)
        if (strcmp(rows[i].shape, name) == 0) return true;
    return false;
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

static void check_shape(const cJSON *object, const char *shape);

static bool cut_end(char *text, const char *end)
{
    size_t length = strlen(text), cut = strlen(end);

    if (length < cut || strcmp(text + length - cut, end) != 0) return false;
    text[length - cut] = '\0';
    return true;
}

static bool is_whole(const cJSON *value)
{
    return cJSON_IsNumber(value) && value->valuedouble == floor(value->valuedouble);
}

static bool is_among(const cJSON *value, const char *enumeration)
{
    for (size_t i = 0; i < row_count; i++)
        if (strcmp(rows[i].shape, enumeration) == 0 && strcmp(rows[i].name, value->valuestring) == 0) return true;
    return false;
}

static bool is_value(const cJSON *value, const char *type)
{
    char name[WORD_MAX];
    const cJSON *one;

    bool list = strncmp(type, "list of ", 8) == 0, map = strncmp(type, "map of ", 7) == 0;

    if (list || map) {
        cJSON_ArrayForEach(one, value)
        {
            if (!is_value(one, type + (list ? 8 : 7))) return false;
        }
        return list ? cJSON_IsArray(value) : cJSON_IsObject(value);
    }
    if (between(type, "`", name)) {
        if (!is_shape(name)) die("the document has no `%s`", name);
        if (cJSON_IsString(value)) return is_among(value, name);
        if (!cJSON_IsObject(value)) return false;
        check_shape(value, name);
        return true;
    }
    if (strcmp(type, "text") == 0 || strcmp(type, "bytes") == 0) return cJSON_IsString(value);
    if (strcmp(type, "flag") == 0) return cJSON_IsBool(value);
    if (strcmp(type, "whole") == 0) return is_whole(value);
    if (strcmp(type, "real") == 0) return cJSON_IsNumber(value);
    if (strcmp(type, "time") == 0) return is_whole(value) && value->valuedouble > 1e12 && value->valuedouble < 1e16;
    if (strcmp(type, "span") == 0) return is_whole(value) && value->valuedouble >= 0;
    if (strcmp(type, "anything") == 0) return true;
    die("the document has a type \"%s\"", type);
}

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

static const cJSON *find(const cJSON *object, const char *name, size_t *ret_count)
{
    const cJSON *member, *found = NULL;

    *ret_count = 0;
    cJSON_ArrayForEach(member, object)
    {
        if (strcmp(member->string, name) != 0) continue;
        found = member;
        ++*ret_count;
    }
    return found;
}

static size_t check_member(const cJSON *object, const row *about)
{
    char type[WORD_MAX], name[WORD_MAX + 8];
    bool absent, null;
    const cJSON *value;
    size_t count;

    (void)snprintf(type, sizeof(type), "%s", about->type);
    absent = cut_end(type, ", may be absent");
    null = cut_end(type, " or null");
    if ((strcmp(type, "time") == 0 || strcmp(type, "span") == 0) && !cut_end(strcpy(name, about->name), "_ms"))
        die("`%s.%s` is a %s: it should be named so (_ms)", about->shape, about->name, type);
    value = find(object, about->name, &count);
    if (count == 0 && strcmp(type, "bytes") == 0) {
        (void)snprintf(name, sizeof(name), "%s_base64", about->name);
        value = find(object, name, &count);
    }
    if (count > 1) die("`%s.%s` stands twice", about->shape, about->name);
    if (count == 0 && !absent) die("`%s.%s` is missing", about->shape, about->name);
    if (count == 0) return 0;
    if (cJSON_IsNull(value) && null) return 1;
    if (!is_value(value, type)) die("`%s.%s` is no %s", about->shape, about->name, about->type);
    (void)fprintf(seen, "%s.%s\n", about->shape, about->name);
    return 1;
}

static void check_shape(const cJSON *object, const char *shape)
{
    size_t known = 0;

    if (!cJSON_IsObject(object)) die("no object");
    for (size_t i = 0; i < row_count; i++)
        if (strcmp(rows[i].shape, shape) == 0) known += check_member(object, &rows[i]);
    if (known != (size_t)cJSON_GetArraySize(object)) die("a `%s` has a member that the document does not know", shape);
}

/* ---- what it is asked ------------------------------------------------------------------------------------------ */

static size_t check_lines(const char *shape)
{
    static char line[LINE_MAX_BYTES];

    if (!is_shape(shape)) die("the document has no `%s`", shape);
    for (at_line = 1; fgets(line, sizeof(line), stdin) != NULL; at_line++) {
        cJSON *object;

        if (strchr(line, '\n') == NULL) die("does not end in a line feed");
        *strchr(line, '\n') = '\0';
        object = cJSON_ParseWithOpts(line, NULL, true);
        if (object == NULL) die("no JSON: %.200s", line);
        check_shape(object, shape);
        cJSON_Delete(object);
    }
    return at_line - 1;
}

static void check_command(const char *command)
{
    char shape[WORD_MAX];
    const row *about = rows;
    size_t lines;

    while (about < rows + row_count && (about->shape[0] != '\0' || strcmp(about->name, command) != 0)) about++;
    if (about == rows + row_count || !between(about->type, "`", shape)) die("the document has no such command");
    lines = check_lines(shape);
    if (lines == 0) die("nothing was printed");
    if (strncmp(about->type, "one ", 4) == 0 ? lines != 1 : strncmp(about->type, "lines of ", 9) != 0)
        die("%zu lines; the document says: %s", lines, about->type);
    (void)fprintf(seen, "%s\n", command);
}

static bool was_seen(const char *text)
{
    char line[3 * WORD_MAX];

    rewind(seen);
    while (fgets(line, sizeof(line), seen) != NULL)
        if (cut_end(line, "\n") && strcmp(line, text) == 0) return true;
    return false;
}

static int print_unseen(void)
{
    char text[3 * WORD_MAX];
    int status = 0;

    for (size_t i = 0; i < row_count; i++) {
        bool command = rows[i].shape[0] == '\0';

        (void)snprintf(text, sizeof(text), "%.99s%s%.99s", rows[i].shape, command ? "" : ".", rows[i].name);
        if (rows[i].type[0] == '\0' || was_seen(text)) continue;
        (void)printf("%s\n", text);
        status = 1;
    }
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    read_document(argv[1]);
    at_command = argv[3];
    seen = fopen(argv[2], "a+");
    if (seen == NULL) die("%s: cannot be written", argv[2]);
    if (strcmp(argv[3], "--unseen") == 0) return print_unseen();
    if (strcmp(argv[3], "--commands") == 0) {
        for (size_t i = 0; i < row_count; i++)
            if (rows[i].shape[0] == '\0') (void)printf("%s\n", rows[i].name);
        return 0;
    }
    if (argv[3][0] == ':')
        (void)check_lines(argv[3] + 1);
    else
        check_command(argv[3]);
    return fclose(seen) == 0 ? 0 : 1;
}
