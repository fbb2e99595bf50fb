#include "protocol/layers.h"

#include <string.h>

#include "base/id.h"
#include "base/mem.h"

reeve_status rv_layers_check(const reeve_layer *layer, const char *owner, rv_error *error)
{
    if (layer->name == NULL || layer->name[0] == '\0')
        return rv_fail(error, REEVE_EINVAL, "%sa layer has no name", owner);
    if (layer->run == NULL && layer->run_batch == NULL && layer->enqueue == NULL && layer->before == NULL &&
        layer->after == NULL)
        return rv_fail(error, REEVE_EINVAL, "%sthe layer \"%.100s\" has no function to run", owner, layer->name);
    if (layer->type == NULL || rv_valid_type_pattern(layer->type, strnlen(layer->type, REEVE_TYPE_MAX + 1)))
        return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL,
                   "%sthe layer \"%.100s\": \"%.100s\" is no task type (1 to %d of A-Z a-z 0-9 . _ - : /)", owner,
                   layer->name, layer->type, REEVE_TYPE_MAX);
}

static void free_texts(reeve_layer *layer)
{
    rv_free((void *)layer->name);
    rv_free((void *)layer->type);
}

reeve_status rv_layers_add(rv_layers *layers, const reeve_layer *layer, rv_error *error)
{
    reeve_status status = rv_layers_check(layer, "", error);
    if (status != REEVE_OK) return status;
    if (layers->count == REEVE_LAYERS_MAX)
        return rv_fail(error, REEVE_EINVAL, "the layer \"%.100s\" is one too many: at most %d", layer->name,
                       REEVE_LAYERS_MAX);
    reeve_layer *list = rv_realloc_array(layers->list, layers->count + 1, sizeof(*list));
    if (list == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a layer");
    layers->list = list;
    reeve_layer copy = *layer;
    copy.size = sizeof(copy);
    copy.name = rv_strdup(layer->name);
    copy.type = rv_strdup(layer->type);
    copy.summary = NULL;
    if (copy.name == NULL || (copy.type == NULL && layer->type != NULL)) {
        free_texts(&copy);
        return rv_fail(error, REEVE_ENOMEM, "no memory for a layer");
    }
    list[layers->count++] = copy;
    return REEVE_OK;
}

void rv_layers_fini(rv_layers *layers)
{
    for (size_t i = 0; i < layers->count; i++) {
        reeve_layer *layer = &layers->list[i];
        if (layer->free_user != NULL) layer->free_user(layer->user);
        free_texts(layer);
    }
    rv_free(layers->list);
    *layers = (rv_layers){0};
}

bool rv_layers_fits(const reeve_layer *layer, const char *type)
{
    return layer->type == NULL || rv_type_fit(layer->type, type, strlen(type)) > 0;
}

static bool is_around(const reeve_layer *layer, const char *type, bool batch)
{
    if ((batch ? layer->run_batch != NULL : layer->run != NULL) && rv_layers_fits(layer, type)) return true;
    if (layer->before == NULL && layer->after == NULL) return false;
    /* A handler for mail.* has tasks that fit a layer for mail.news, too. */
    return rv_layers_fits(layer, type) || rv_type_fit(type, layer->type, strlen(layer->type)) > 0;
}

bool rv_layers_choose(const reeve_layer ***ret, const rv_layers *layers, const char *type, bool batch)
{
    size_t count = 0;
    *ret = NULL;
    for (size_t i = 0; i < layers->count; i++) {
        const reeve_layer *layer = &layers->list[i];
        if (!is_around(layer, type, batch)) continue;
        if (*ret == NULL) *ret = rv_zalloc_array(layers->count - i + 1, sizeof(**ret));
        if (*ret == NULL) return false;
        (*ret)[count++] = layer;
    }
    return true;
}
