#include "script/libraries.h"
#include "process/xml.h"

const luaL_Reg script_libraries[] = {{"moonshift.xml", luaopen_moonshift_xml}, {NULL, NULL}};
