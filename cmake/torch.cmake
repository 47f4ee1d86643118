# LibTorch (Debian's 1.13 or a current PyTorch) and OpenMP, as the interface target harmonium_torch.
find_package(Torch REQUIRED QUIET)
find_package(OpenMP REQUIRED COMPONENTS CXX)

add_library(harmonium_torch INTERFACE)
target_include_directories(harmonium_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
# PyTorch's own wheels export the std::filesystem of the old compiler they were built with; the C++ library must be asked
# first, or our calls end up there.
target_link_libraries(harmonium_torch INTERFACE stdc++ ${TORCH_LIBRARIES} OpenMP::OpenMP_CXX)
if(TORCH_CXX_FLAGS)
  separate_arguments(flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(harmonium_torch INTERFACE ${flags})
endif()

# Debian's default OpenBLAS has a thread pool of its own, and two pools that both spin slow each other down; the OpenMP
# build shares LibTorch's pool. An old-style RPATH reaches libblas.so.3, which LibTorch loads, not we.
find_path(HARMONIUM_OPENBLAS_OPENMP libblas.so.3 PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp
          /usr/lib/x86_64-linux-gnu/openblas-openmp NO_DEFAULT_PATH)
mark_as_advanced(HARMONIUM_OPENBLAS_OPENMP)
if(HARMONIUM_OPENBLAS_OPENMP)
  set(CMAKE_INSTALL_RPATH ${HARMONIUM_OPENBLAS_OPENMP})
  # Otherwise CMake pads the build's path with ':' to the length of the installed one. An empty entry is the current
  # folder: libraries would be looked for, and found, wherever a person happens to stand.
  set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
  add_link_options(-Wl,--disable-new-dtags)
endif()
