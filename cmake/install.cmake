# What `cmake --install` puts where. The plugins install themselves (plugins/CMakeLists.txt).
include(CMakePackageConfigHelpers)

set_target_properties(reeve_shared PROPERTIES EXPORT_NAME reeve)
set_target_properties(reeve_static PROPERTIES EXPORT_NAME reeve_static)

# The shared library alone is what find_package(reeve) needs; the static one asks for the libraries below it, too.
install(TARGETS reeve_shared EXPORT reeveTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS reeve_static EXPORT reeveStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS reeve_cli reeve-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS reeve-runner RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/reeve)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/reeve DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
# Not the directory: a build directory that was used before may hold scripts that are none any more.
file(GLOB lua_scripts RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS src/lua/*.lua)
list(TRANSFORM lua_scripts PREPEND ${PROJECT_BINARY_DIR}/)
install(FILES ${lua_scripts} DESTINATION ${CMAKE_INSTALL_DATADIR}/reeve/lua)

# The manual pages, and the completion of shells where each of them looks.
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} FILES_MATCHING PATTERN "reeve*")
install(FILES ${PROJECT_SOURCE_DIR}/packaging/completion/reeve.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME reeve)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/completion/_reeve DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/completion/reeve.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# ---- for those who build against it -----------------------------------------------------------------------------------

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/reeve)
configure_package_config_file(${PROJECT_SOURCE_DIR}/packaging/reeveConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/packaging/reeveConfig.cmake INSTALL_DESTINATION ${cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/packaging/reeveConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/packaging/reeveConfig.cmake ${PROJECT_BINARY_DIR}/packaging/reeveConfigVersion.cmake
        DESTINATION ${cmake_dir})
install(EXPORT reeveTargets NAMESPACE reeve:: DESTINATION ${cmake_dir})
install(EXPORT reeveStaticTargets NAMESPACE reeve:: DESTINATION ${cmake_dir})

# The way from the .pc file to the prefix, so that the tree may be moved.
file(RELATIVE_PATH pc_to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
set(pc_tls "")
if(REEVE_TLS)
  set(pc_tls "-lssl -lcrypto ")
endif()
configure_file(${PROJECT_SOURCE_DIR}/packaging/reeve.pc.in ${PROJECT_BINARY_DIR}/packaging/reeve.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/packaging/reeve.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ---- for those who run it ---------------------------------------------------------------------------------------------

# The unit names where the tree is installed, which is known only then (cmake --install --prefix).
install(CODE "
  get_filename_component(CMAKE_INSTALL_FULL_BINDIR \"${CMAKE_INSTALL_BINDIR}\" ABSOLUTE BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")
  get_filename_component(CMAKE_INSTALL_FULL_DOCDIR \"${CMAKE_INSTALL_DOCDIR}\" ABSOLUTE BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/packaging/reeve-worker@.service.in\"
                 \"${PROJECT_BINARY_DIR}/packaging/reeve-worker@.service\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/packaging/reeve-worker@.service DESTINATION lib/systemd/system)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/reeve-worker.conf DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/prometheus/reeve.rules.yml ${PROJECT_SOURCE_DIR}/packaging/grafana/reeve.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/reeve)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
# (What the documents link to, in the same places beside them.)
install(FILES ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
install(FILES ${documents} ${PROJECT_SOURCE_DIR}/docs/openapi.json DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/images DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/guide DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
