#include "model/model.h"

#define MODEL_KIND(name, function, weight) [name] = {#name, weight, model_##function##_make, model_##function},
const model_kind model_kinds[KINDS] = {MODEL_KINDS(MODEL_KIND)};
