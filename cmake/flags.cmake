# How everything is compiled: C11, strict warnings, hidden symbols, sanitizers on request.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
                    -Wwrite-strings -Wformat=2 -Wvla -fno-common)
if(REEVE_WERROR)
  add_compile_options(-Werror)
endif()
if(REEVE_SANITIZE)
  # Instrumented code hides from the compiler how large numbers can be: it then takes texts for too long that are not.
  add_compile_options(-Wno-format-truncation)
  add_compile_options(-fsanitize=${REEVE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g -O1 -UNDEBUG)
  add_link_options(-fsanitize=${REEVE_SANITIZE})
else()
  add_compile_options($<$<CONFIG:Release>:-fstack-protector-strong>)
endif()
