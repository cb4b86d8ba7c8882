#===- AttuneAddModel.cmake - attune_add_model(), attune_install_model() ----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#[[
attune_add_model(NAME MODEL [FLAGS FLAG...] [RUNTIME TARGET])

Compiles MODEL, a model folder or IR in a .mlir file, with `attune compile`, and makes a library target NAME. A target
that links NAME contains the object and the runtime (Attune::runtime unless RUNTIME names another target), and can
include NAME.h.

A program with a model for GPUs (FLAGS --target=cuda) gets the runtime's code for GPUs.

A program looks for its weights in its own folder. So NAME.weights, made in the current binary folder (the target's
property ATTUNE_WEIGHTS), is copied into the folder of each executable and shared library of the project that links
NAME, directly or through other libraries, wherever CMAKE_RUNTIME_OUTPUT_DIRECTORY and the like put it. Programs in
other folders pass the path to attune_model_open (weights_path).

  attune_add_model(bert ${CMAKE_CURRENT_SOURCE_DIR}/models/bert FLAGS --cpu=x86-64-v3 --limit length=128)
  target_link_libraries(server PRIVATE bert)

attune_install_model(NAME... [DESTINATION FOLDER] [COMPONENT COMPONENT])

Installs the weights of models that attune_add_model made, into the folder that install(TARGETS) puts programs in,
CMAKE_INSTALL_BINDIR or bin, or DESTINATION. It must be the folder of the program or shared library that links NAME,
unless the program passes the path to attune_model_open.

  install(TARGETS server)
  attune_install_model(bert)
]]
cmake_policy(PUSH)
cmake_policy(VERSION 3.16...3.25) # functions keep the policies they are defined under

function(attune_add_model name model)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "RUNTIME" "FLAGS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "attune_add_model(${name}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}; expected FLAGS or RUNTIME")
  endif()
  if(NOT TARGET Attune::attune)
    message(FATAL_ERROR "attune_add_model(${name}): the compiler `attune` is not installed beside the runtime")
  endif()
  if(CMAKE_VERSION VERSION_LESS 3.19)
    message(FATAL_ERROR "attune_add_model(${name}): expected CMake 3.19 or later, found ${CMAKE_VERSION}")
  endif()
  if(NOT ARG_RUNTIME)
    set(ARG_RUNTIME Attune::runtime)
  endif()
  get_filename_component(model "${model}" ABSOLUTE)
  if(IS_DIRECTORY "${model}")
    file(GLOB sources CONFIGURE_DEPENDS "${model}/*.json" "${model}/*.safetensors")
  else()
    set(sources "${model}")
  endif()
  set(stem "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  add_custom_command(OUTPUT "${stem}.o" "${stem}.h" "${stem}.weights"
    COMMAND Attune::attune compile "${model}" -o "${stem}.o" "--name=${name}" ${ARG_FLAGS}
    DEPENDS ${sources} COMMENT "Compiling model ${name}" VERBATIM)
  add_custom_target(${name}_model DEPENDS "${stem}.o" "${stem}.h" "${stem}.weights")
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_model)
  # The object is a link item and not a source, because CMake knows generated sources only in the folder that generates
  # them.
  target_include_directories(${name} INTERFACE "${CMAKE_CURRENT_BINARY_DIR}")
  target_link_libraries(${name} INTERFACE "${stem}.o" ${ARG_RUNTIME})
  if("${ARG_FLAGS}" MATCHES "--target[=;]cuda")
    target_link_options(${name} INTERFACE "LINKER:-u,attune_cuda_device")
  endif()
  set_target_properties(${name} PROPERTIES ATTUNE_WEIGHTS "${stem}.weights" INTERFACE_LINK_DEPENDS "${stem}.o")
  # All programs are known only at the end of the project.
  get_property(models GLOBAL PROPERTY ATTUNE_MODELS)
  if(NOT models)
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _attune_place_weights "${CMAKE_SOURCE_DIR}")
  endif()
  set_property(GLOBAL APPEND PROPERTY ATTUNE_MODELS ${name})
endfunction()

function(attune_install_model)
  cmake_parse_arguments(ARG "" "DESTINATION;COMPONENT" "" ${ARGN})
  if(NOT ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "attune_install_model(): expected the name of a model that attune_add_model made")
  endif()
  if(NOT ARG_DESTINATION AND CMAKE_INSTALL_BINDIR)
    set(ARG_DESTINATION "${CMAKE_INSTALL_BINDIR}")
  elseif(NOT ARG_DESTINATION)
    set(ARG_DESTINATION bin)
  endif()
  set(component)
  if(ARG_COMPONENT)
    set(component COMPONENT "${ARG_COMPONENT}")
  endif()
  foreach(name IN LISTS ARG_UNPARSED_ARGUMENTS)
    set(weights)
    if(TARGET ${name})
      get_target_property(weights ${name} ATTUNE_WEIGHTS)
    endif()
    if(NOT weights)
      message(FATAL_ERROR "attune_install_model(${name}): expected the name of a model that attune_add_model made")
    endif()
    install(FILES "${weights}" DESTINATION "${ARG_DESTINATION}" ${component})
  endforeach()
endfunction()

# Appends to the list |out| the models that |target| contains: those that it links, directly or through libraries that
# are not shared. |seen| is the list of targets already visited.
function(_attune_find_models target out seen)
  set(found ${${out}})
  set(visited ${${seen}})
  set(items)
  foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    get_target_property(list ${target} ${property})
    if(list)
      list(APPEND items ${list})
    endif()
  endforeach()
  # Names within generator expressions count whether the condition holds or not, because an extra file does no harm.
  string(REGEX MATCHALL "[A-Za-z0-9_.+-]+(::[A-Za-z0-9_.+-]+)*" items "${items}")
  list(REMOVE_DUPLICATES items)
  foreach(item IN LISTS items)
    if(NOT TARGET ${item} OR item IN_LIST visited)
      continue()
    endif()
    get_target_property(aliased ${item} ALIASED_TARGET)
    if(aliased)
      set(item ${aliased})
    endif()
    list(APPEND visited ${item})
    get_target_property(weights ${item} ATTUNE_WEIGHTS)
    get_target_property(type ${item} TYPE)
    if(weights)
      list(APPEND found ${item})
    elseif(type MATCHES "^(STATIC|OBJECT|INTERFACE)_LIBRARY$")
      _attune_find_models(${item} found visited)
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
  set(${seen} ${visited} PARENT_SCOPE)
endfunction()

# Sets |out| to the folder that |target| is built into, which may be a generator expression. $<TARGET_FILE_DIR> would
# make a cycle: if the policy CMP0112 of the project is OLD, it adds a dependency on |target|.
function(_attune_output_folder target type out)
  set(kind LIBRARY)
  if(type STREQUAL EXECUTABLE)
    set(kind RUNTIME)
  endif()
  get_target_property(base ${target} BINARY_DIR)
  set(configurations "${CMAKE_CONFIGURATION_TYPES}")
  if(NOT configurations)
    set(configurations "${CMAKE_BUILD_TYPE}")
  endif()
  set(result)
  foreach(configuration IN LISTS configurations ITEMS "")
    string(TOUPPER "${configuration}" upper)
    set(folder)
    if(upper)
      get_target_property(folder ${target} ${kind}_OUTPUT_DIRECTORY_${upper})
    endif()
    if(NOT folder)
      get_target_property(folder ${target} ${kind}_OUTPUT_DIRECTORY)
      if(NOT folder)
        set(folder "${base}")
      endif()
      if(CMAKE_CONFIGURATION_TYPES AND NOT folder MATCHES "\\$<")
        string(APPEND folder "/${configuration}")
      endif()
    endif()
    get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR "${base}")
    if(NOT CMAKE_CONFIGURATION_TYPES)
      set(result "${folder}")
      break()
    elseif(configuration)
      string(APPEND result "$<$<CONFIG:${configuration}>:${folder}>")
    endif()
  endforeach()
  set(${out} "${result}" PARENT_SCOPE)
endfunction()

# Adds, for each program and shared library in |folder| and below that contains a model, a target that copies the
# weights beside it, and a dependency on that target.
function(_attune_place_weights folder)
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    _attune_place_weights("${below}")
  endforeach()
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(NOT type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)$")
      continue()
    endif()
    set(models)
    set(seen ${target})
    _attune_find_models(${target} models seen)
    if(NOT models)
      continue()
    endif()
    set(weights)
    foreach(model IN LISTS models)
      get_target_property(file ${model} ATTUNE_WEIGHTS)
      list(APPEND weights "${file}")
    endforeach()
    _attune_output_folder(${target} ${type} beside)
    # The output folder may depend on the configuration, so a stamp file represents the copies.
    set(stamp "${CMAKE_BINARY_DIR}/CMakeFiles/${target}_weights.stamp")
    if(CMAKE_CONFIGURATION_TYPES)
      set(stamp "${CMAKE_BINARY_DIR}/CMakeFiles/${target}_weights_$<CONFIG>.stamp")
    endif()
    add_custom_command(OUTPUT "${stamp}"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${beside}"
      COMMAND "${CMAKE_COMMAND}" -E copy_if_different ${weights} "${beside}"
      COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
      DEPENDS ${weights} COMMENT "Weights beside ${target}" VERBATIM)
    add_custom_target(${target}_weights DEPENDS "${stamp}")
    foreach(model IN LISTS models)
      add_dependencies(${target}_weights ${model}_model)
    endforeach()
    add_dependencies(${target} ${target}_weights)
  endforeach()
endfunction()

cmake_policy(POP)
