/*
 * openapi_check.c - answers of the API over HTTP against the document that describes them.
 *
 *     openapi_check DOCUMENT --routes               prints "METHOD PATH ROLE" for each operation
 *     openapi_check DOCUMENT METHOD PATTERN STATUS  checks the answer on standard input
 *
 * Of schemas it knows type (a name or a list), properties, required, additionalProperties false, items, enum and $ref.
 */
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cJSON *document;

static void fail(const char *where, const char *what)
{
    (void)fprintf(stderr, "openapi_check: %s: %s\n", where, what);
    exit(1);
}

static char *read_all(FILE *file)
{
    size_t length = 0, size = 1 << 16, got;
    char *text = malloc(size + 1);

    while (text != NULL && (got = fread(text + length, 1, size - length, file)) > 0) {
        length += got;
        if (length == size) text = realloc(text, (size *= 2) + 1);
    }
    if (text == NULL) fail("input", "no memory");
    text[length] = '\0';
    return text;
}

static const cJSON *parse_all(FILE *file)
{
    char *text = read_all(file);
    const cJSON *parsed = cJSON_Parse(text);

    free(text);
    return parsed;
}

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool is_type(const cJSON *value, const char *type)
{
    if (strcmp(type, "null") == 0) return cJSON_IsNull(value);
    if (strcmp(type, "string") == 0) return cJSON_IsString(value);
    if (strcmp(type, "boolean") == 0) return cJSON_IsBool(value);
    if (strcmp(type, "array") == 0) return cJSON_IsArray(value);
    if (strcmp(type, "object") == 0) return cJSON_IsObject(value);
    if (strcmp(type, "integer") == 0)
        return cJSON_IsNumber(value) && value->valuedouble == (double)(long long)value->valuedouble;
    return strcmp(type, "number") == 0 && cJSON_IsNumber(value);
}

static bool has_type(const cJSON *value, const cJSON *type)
{
    const cJSON *one;

    if (type == NULL) return true;
    if (cJSON_IsString(type)) return is_type(value, type->valuestring);
    cJSON_ArrayForEach(one, type) if (is_type(value, one->valuestring)) return true;
    return false;
}

static void check(const cJSON *value, const cJSON *schema, const char *where);

static void check_members(const cJSON *value, const cJSON *schema, const char *where)
{
    const cJSON *one, *properties = member(schema, "properties");
    char path[512];

    cJSON_ArrayForEach(one, member(schema, "required"))
    {
        (void)snprintf(path, sizeof(path), "%s.%s", where, one->valuestring);
        if (member(value, one->valuestring) == NULL) fail(path, "is missing");
    }
    cJSON_ArrayForEach(one, value)
    {
        const cJSON *of = member(properties, one->string);
        (void)snprintf(path, sizeof(path), "%s.%s", where, one->string);
        if (of != NULL)
            check(one, of, path);
        else if (cJSON_IsFalse(member(schema, "additionalProperties")))
            fail(path, "is not in the document");
    }
}

static void check(const cJSON *value, const cJSON *schema, const char *where)
{
    const char *reference = cJSON_GetStringValue(member(schema, "$ref"));
    const cJSON *one;
    bool listed = member(schema, "enum") == NULL;

    if (reference != NULL) {
        schema = member(member(member(document, "components"), "schemas"), strrchr(reference, '/') + 1);
        if (schema == NULL) fail(reference, "there is no such schema");
        check(value, schema, where);
        return;
    }
    if (!has_type(value, member(schema, "type"))) fail(where, "is of another type");
    cJSON_ArrayForEach(one, member(schema, "enum")) listed = listed || cJSON_Compare(one, value, true);
    if (!listed) fail(where, "is none of the values");
    if (cJSON_IsObject(value)) check_members(value, schema, where);
    if (cJSON_IsArray(value) && member(schema, "items") != NULL)
        cJSON_ArrayForEach(one, value) check(one, member(schema, "items"), where);
}

static int print_routes(void)
{
    const cJSON *path, *operation;

    cJSON_ArrayForEach(path, member(document, "paths"))
    {
        cJSON_ArrayForEach(operation, path)
        {
            for (const char *at = operation->string; *at != '\0'; at++) (void)putchar(*at & ~0x20);
            (void)printf(" %s %s\n", path->string, cJSON_GetStringValue(member(operation, "x-role")));
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    FILE *file = argc > 2 ? fopen(argv[1], "r") : NULL;
    char method[16] = "";

    if (file == NULL) fail("usage", "DOCUMENT --routes | DOCUMENT METHOD PATTERN STATUS");
    document = parse_all(file);
    (void)fclose(file);
    if (document == NULL) fail(argv[1], "is no JSON");
    if (strcmp(argv[2], "--routes") == 0) return print_routes();
    if (argc != 5) fail("usage", "DOCUMENT METHOD PATTERN STATUS");
    for (size_t i = 0; argv[2][i] != '\0' && i < sizeof(method) - 1; i++) method[i] = (char)(argv[2][i] | 0x20);
    const cJSON *operation = member(member(member(document, "paths"), argv[3]), method);
    const cJSON *answer = member(member(operation, "responses"), argv[4]);
    if (answer == NULL && argv[4][0] >= '4') answer = member(member(operation, "responses"), "default");
    if (operation == NULL || answer == NULL) fail(argv[3], "the document has no such operation or status");
    const cJSON *content = member(answer, "content"), *media = content == NULL ? NULL : content->child;
    if (media == NULL || strcmp(media->string, "application/json") != 0) return 0;
    static const cJSON *value;
    value = parse_all(stdin);
    if (value == NULL) fail(argv[3], "the answer is no JSON");
    check(value, member(media, "schema"), "answer");
    return 0;
}
