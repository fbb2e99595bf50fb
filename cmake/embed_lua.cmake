# cmake -DIN=src/lua/turn.lua -DNAME=turn -DOUT=turn.c -DLUA_OUT=turn.lua -P embed_lua.cmake
# Writes a script with its fragments put in (lines "-- include: lib/score.lua") twice: as Lua, to install, and as a C
# source with its SHA1, which is the name that EVALSHA knows it by. The C source is what goes to Redis: there lines of
# comments are empty and none is indented. (Empty, not left out: numbers of lines in errors are those of the Lua file.)
# In the text @NAME@ becomes the name of the script, and @COMMANDS@
# the names of all commands of Redis that it calls so that they can fail it (call, not pcall), separated by blanks.
cmake_minimum_required(VERSION 3.18)
get_filename_component(dir "${IN}" DIRECTORY)
file(READ "${IN}" text)
while(text MATCHES "-- include: ([a-z_/]+\\.lua)\n")
  set(fragment "${CMAKE_MATCH_1}")
  file(READ "${dir}/${fragment}" body)
  string(REPLACE "-- include: ${fragment}\n" "${body}" text "${text}")
endwhile()
string(REPLACE "pcall('" "" called "${text}")
string(REGEX MATCHALL "call\\('[A-Z]+'" calls "${called}")
list(TRANSFORM calls REPLACE "call\\('|'" "")
list(REMOVE_DUPLICATES calls)
list(SORT calls)
list(JOIN calls " " calls)
string(REPLACE "@COMMANDS@" "${calls}" text "${text}")
string(REPLACE "@NAME@" "${NAME}" text "${text}")
file(WRITE "${LUA_OUT}" "${text}")
string(REGEX REPLACE "\n *(--[^\n]*)?" "\n" sent "${text}")
if(sent MATCHES "\\[\\[")
  message(FATAL_ERROR "${IN}: a text in double brackets would lose blanks here: write it in quotes")
endif()
file(WRITE "${OUT}" "${sent}")
file(SHA1 "${OUT}" sha)
file(SIZE "${OUT}" length)
file(READ "${OUT}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE "${OUT}" "/* made from src/lua/${NAME}.lua; do not edit */
#include \"protocol/scripts.h\"

static const char text[] = {
${bytes}0x00};

const rv_script rv_script_${NAME} = {\"${NAME}\", text, ${length}, \"${sha}\"};
")
