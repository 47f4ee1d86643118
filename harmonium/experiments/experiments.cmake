# Embeds the experiments of the repository into the tool, so that an installed one can reproduce them: a table of names
# (file stems) and texts, embedded_experiments() of experiment_file.h.
file(GLOB experiments CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/experiments/fang/*.toml
     ${PROJECT_SOURCE_DIR}/experiments/likelihood/*.toml ${PROJECT_SOURCE_DIR}/experiments/thesis/*.toml
     ${PROJECT_SOURCE_DIR}/experiments/deep/*.toml ${PROJECT_SOURCE_DIR}/experiments/directed/*.toml)
set(experiments_cpp ${PROJECT_BINARY_DIR}/generated/harmonium/experiments/experiments.cpp)
set(embed_experiments ${CMAKE_CURRENT_LIST_DIR}/embed_experiments.cmake)
string(REPLACE ";" "|" experiment_files "${experiments}")
add_custom_command(
  OUTPUT ${experiments_cpp}
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${experiments_cpp}" "-DFILES=${experiment_files}" -P ${embed_experiments}
  DEPENDS ${embed_experiments} ${experiments}
  COMMENT "Embedding the experiments" VERBATIM)
target_sources(harmonium_files PRIVATE ${experiments_cpp})
