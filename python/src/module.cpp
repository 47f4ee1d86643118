// The module harmonium._core. Names, defaults and rules of the estimators are in the Python files beside it; here is
// only what passes between the two languages.
#include <ATen/ATen.h>

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.h"
#include "errors.h"
#include "harmonium/core/atomic_file.h"
#include "harmonium/core/device.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/data/formats/bytes.h"
#include "harmonium/data/formats/mat.h"
#include "harmonium/data/formats/safetensors.h"
#include "judging.h"
#include "learner.h"
#include "model.h"
#include "options.h"

namespace harmonium::python {

namespace {

using Release = py::call_guard<py::gil_scoped_release>;

Dataset make_dataset(const std::string& name, const at::Tensor& values, double scale,
                     const std::optional<at::Tensor>& labels,
                     const std::optional<std::pair<std::int64_t, std::int64_t>>& image) {
  Dataset data{.name = name, .values = values, .scale = scale};
  if (labels) data.labels = *labels;
  if (image) data.image = ImageShape{image->first, image->second};
  return data;
}

// Tensors cross the border as this, so that no array is taken for a list.
struct Table {
  at::Tensor tensor;
};

void add_table(py::module_& module) {
  py::class_<Table>(module, "Table", "Numbers that a tensor and an array share.")
      .def(py::init([](const py::array& array) { return Table{to_tensor(array)}; }))
      .def("numpy", [](const Table& self) { return to_array(self.tensor); })
      .def(
          "is_binary", [](const Table& self) { return Dataset{.name = "", .values = self.tensor}.is_binary(); },
          Release())
      .def(
          "range",
          [](const Table& self) {
            const auto [least, greatest] = at::aminmax(self.tensor);
            return std::pair(least.to(at::kDouble).item<double>(), greatest.to(at::kDouble).item<double>());
          },
          Release(), "Least and greatest value.");
}

void add_data(py::module_& module) {
  module.def(
      "load_dataset",
      [](const std::string& spec) {
        const Dataset data = open_dataset(spec);
        return std::pair(Table{data.to_float()},
                         Table{data.labels.defined() ? data.labels : at::empty({0}, at::kLong)});
      },
      Release(), "Rows and labels of a set of the catalog, or of a file.");
  module.def(
      "mat_arrays",
      [](const std::string& path) {
        const std::string bytes = read_file(path);
        std::map<std::string, Table> arrays;
        for (const MatVariable& variable : list_mat(bytes, path)) {
          if (variable.is_readable) arrays[printable(variable.name)] = Table{read_mat_variable(bytes, variable, path)};
        }
        return arrays;
      },
      Release(), "The real matrices of a MATLAB file by their names; fields of a struct as 'struct.field'.");
  py::class_<RunData>(module, "Data", "Rows to learn from, and rows to watch.")
      .def(py::init([](const Table& rows, double scale, const std::optional<Table>& labels, std::int64_t classes,
                       const std::optional<std::pair<std::int64_t, std::int64_t>>& image,
                       const std::optional<Table>& valid, const std::optional<Table>& valid_labels) {
             RunData data;
             const auto tensor = [](const std::optional<Table>& table) {
               return table ? std::optional(table->tensor) : std::nullopt;
             };
             data.train = make_dataset("X", rows.tensor, scale, tensor(labels), image);
             if (valid) data.valid = make_dataset("X_valid", valid->tensor, scale, tensor(valid_labels), image);
             data.classes = classes;
             return data;
           }),
           py::arg("rows"), py::arg("scale"), py::arg("labels") = py::none(), py::arg("classes") = 0,
           py::arg("image") = py::none(), py::arg("valid") = py::none(), py::arg("valid_labels") = py::none());
}

LearnOptions learn_options(int threads, bool monitor, const py::object& show) {
  LearnOptions options{.threads = threads, .monitor = monitor, .show = {}};
  if (!show.is_none())
    options.show = [show](const LearnerProgress& p) { show(p.update, p.total, p.seconds, p.epoch, p.metrics); };
  return options;
}

py::bytes encode_state(const NamedTensors& tensors) {
  TensorFile file;
  for (const auto& [name, value] : tensors) file.tensors.emplace_back(name, value.cpu());
  return encode_safetensors(file);
}

void add_learner(py::module_& module) {
  py::class_<Learner>(module, "Learner", "Training of one model.")
      .def(py::init([](const py::dict& options, const RunData& data) {
             RunConfig config = config_from(options);
             config.data = "X";
             config.valid = data.valid.rows() > 0 ? "X_valid" : "none";
             const py::gil_scoped_release released;
             return std::make_unique<Learner>(config, data);
           }),
           py::arg("options"), py::arg("data"))
      .def("start_from", [](Learner& self, const PyModel& model) { self.start_from(model.get()); })
      .def(
          "learn",
          [](Learner& self, int threads, bool monitor, const py::object& show) {
            const LearnOptions options = learn_options(threads, monitor, show);
            const py::gil_scoped_release released;
            self.learn(options);
          },
          py::arg("threads"), py::arg("monitor"), py::arg("show"))
      .def(
          "learn_batch",
          [](Learner& self, const RunData& data, int threads) {
            const py::gil_scoped_release released;
            self.learn_batch(data, {.threads = threads, .monitor = false, .show = {}});
          },
          py::arg("data"), py::arg("threads"))
      .def(
          "model", [](const Learner& self) { return PyModel(self.model()); }, Release())
      .def_property_readonly("options", [](const Learner& self) { return config_to(self.config()); })
      .def_property_readonly("update", &Learner::update)
      .def_property_readonly("seconds", &Learner::seconds)
      .def_property_readonly("history", &Learner::history)
      .def("chains",
           [](const Learner& self) {
             py::list arrays;
             for (const at::Tensor& layer : self.chains()) arrays.append(to_array(layer.clone()));
             return arrays;
           })
      .def(py::pickle(
          [](const Learner& self) {
            return py::make_tuple(config_to(self.config()), py::bytes(PyModel(self.model()).encode()), self.update(),
                                  encode_state(self.state()));
          },
          [](const py::tuple& saved) {
            const auto model = saved[1].cast<std::string>(), state = saved[3].cast<std::string>();
            return std::make_unique<Learner>(config_from(saved[0]), PyModel::decode(model).get(),
                                             saved[2].cast<std::int64_t>(),
                                             parse_safetensors(state, "a pickled state").tensors);
          }));
}

void add_model(py::module_& module) {
  py::class_<PyModel>(module, "Model", "A model: one Boltzmann machine, or a stack of them.")
      .def_static("load", &PyModel::load, Release(), "A run folder, a .safetensors file, or an .npz with W and biases.")
      .def_static(
          "from_arrays",
          [](const Table& weights, const Table& visible, const Table& hidden, const std::string& units) {
            return PyModel::from_arrays(weights.tensor, visible.tensor, hidden.tensor, units);
          },
          py::arg("weights"), py::arg("visible"), py::arg("hidden"), py::arg("visible_units"))
      .def("save", &PyModel::save, py::arg("path"), py::arg("notes"), Release())
      .def_property_readonly("kind", &PyModel::kind)
      .def_property_readonly("visible_width", &PyModel::visible_width)
      .def_property_readonly("hidden_width", &PyModel::hidden_width)
      .def_property_readonly("visible_units", &PyModel::visible_units)
      .def_property_readonly("units", &PyModel::units, "Unit types of all layers but the label, from the data up.")
      .def_property_readonly("classes", &PyModel::classes)
      .def_property_readonly("notes", [](const PyModel& self) { return self.get().notes; })
      .def_property_readonly("image",
                             [](const PyModel& self) -> std::optional<std::pair<std::int64_t, std::int64_t>> {
                               if (!self.get().image) return std::nullopt;
                               return std::pair(self.get().image->height, self.get().image->width);
                             })
      .def(
          "parameters",
          [](const PyModel& self) {
            py::dict arrays;
            for (const auto& [name, value] : self.parameters()) arrays[py::str(name)] = to_array(value);
            return arrays;
          },
          "Arrays by name; they share the model's memory.")
      .def("set_parameter",
           [](PyModel& self, const std::string& name, const Table& value) { self.set_parameter(name, value.tensor); })
      .def(
          "transform", [](const PyModel& self, const Table& rows) { return Table{self.transform(rows.tensor)}; },
          Release())
      .def(
          "visible_means",
          [](const PyModel& self, const Table& hidden) { return Table{self.visible_means(hidden.tensor)}; }, Release())
      .def(
          "free_energy", [](const PyModel& self, const Table& rows) { return Table{self.free_energy(rows.tensor)}; },
          Release())
      .def(
          "pseudo_likelihood",
          [](const PyModel& self, const Table& rows, std::uint64_t seed) {
            return Table{self.pseudo_likelihood(rows.tensor, seed)};
          },
          Release())
      .def(
          "class_log_probabilities",
          [](const PyModel& self, const Table& rows) { return Table{self.class_log_probabilities(rows.tensor)}; },
          Release())
      .def(
          "gibbs",
          [](const PyModel& self, const Table& rows, std::uint64_t seed, std::int64_t sweeps) {
            return Table{self.gibbs(rows.tensor, seed, sweeps)};
          },
          Release())
      .def(py::pickle([](const PyModel& self) { return py::make_tuple(py::bytes(self.encode())); },
                      [](const py::tuple& saved) { return PyModel::decode(saved[0].cast<std::string>()); }));
}

py::dict to_dict(const Estimate& estimate) {
  py::dict result;
  result["value"] = estimate.value;
  if (has_interval(estimate)) result["interval"] = py::make_tuple(estimate.low, estimate.high);
  result["kind"] = to_string(estimate.kind);
  result["method"] = estimate.method;
  return result;
}

JudgeHooks judge_hooks(int threads, const py::object& show, const py::object& say) {
  JudgeHooks hooks{.threads = threads};
  if (!show.is_none())
    hooks.show = [show](const std::string& what, std::int64_t done, std::int64_t total) { show(what, done, total); };
  if (!say.is_none()) hooks.say = [say](const std::string& sentence) { say(sentence); };
  return hooks;
}

void add_judging(py::module_& module) {
  module.def(
      "log_likelihood",
      [](const PyModel& model, const Table& rows, double scale, const std::optional<Table>& labels,
         const std::string& binarize, const py::dict& options, int threads, const py::object& show,
         const py::object& say) {
        const EstimationOptions how = estimation_from(options);
        const JudgeHooks hooks = judge_hooks(threads, show, say);
        const Dataset data =
            make_dataset("X", rows.tensor, scale, labels ? std::optional(labels->tensor) : std::nullopt, std::nullopt);
        Judgement found;
        {
          const py::gil_scoped_release released;
          found = judge(model, data, binarize, how, hooks);
        }
        py::dict result = to_dict(found.value);
        result["n"] = found.rows;
        result["binarization"] = found.binarization;
        result["verdict"] = in_python_words(found.verdict);
        result["trusted"] = found.found.trusted;
        result["bracket"] = py::make_tuple(found.found.lower, found.found.upper);
        result["remark"] = in_words(found.found);
        result["log_z"] = to_dict(found.log_z);
        if (found.lower) result["lower"] = to_dict(*found.lower);
        if (found.upper_log_z) result["upper_log_z"] = to_dict(*found.upper_log_z);
        return result;
      },
      py::arg("model"), py::arg("rows"), py::arg("scale"), py::arg("labels"), py::arg("binarize"), py::arg("options"),
      py::arg("threads"), py::arg("show"), py::arg("say"));
  module.def(
      "log_z",
      [](const PyModel& model, const py::dict& options, int threads, const py::object& show, const py::object& say) {
        const EstimationOptions how = estimation_from(options);
        const JudgeHooks hooks = judge_hooks(threads, show, say);
        Estimate found;
        {
          const py::gil_scoped_release released;
          found = log_z(model, how, hooks);
        }
        return to_dict(found);
      },
      py::arg("model"), py::arg("options"), py::arg("threads"), py::arg("show"), py::arg("say"));
  module.def(
      "belief_net_log_f",
      [](const PyModel& model, const Table& rows, std::uint64_t seed) {
        return Table{belief_net_log_f(model, rows.tensor, seed)};
      },
      Release());
  module.def(
      "sample",
      [](const PyModel& model, std::int64_t count, std::optional<std::int64_t> sweeps,
         const std::optional<std::string>& sampler, bool means, std::optional<std::int64_t> label, std::uint64_t seed,
         int threads) {
        SampleRequest request{.count = count, .means = means, .label = label, .seed = seed, .threads = threads};
        if (sweeps) request.sweeps = *sweeps;
        if (sampler) request.sampler = *sampler;
        return Table{sample(model, request)};
      },
      py::arg("model"), py::arg("count"), py::arg("sweeps"), py::arg("sampler"), py::arg("means"), py::arg("label"),
      py::arg("seed"), py::arg("threads"), Release());
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "The engine of harmonium; use the classes of the package itself.";
  module.attr("__version__") = HARMONIUM_VERSION;
  stay_single_after_fork();
  add_errors(module);
  module.def("run_options", &run_options, "(name, default, help) of every option of a training run.");
  module.def("cuda_complaint", &cuda_complaint, "Empty where CUDA can be used, else what is missing.");
  module.def("set_num_threads", &set_num_threads);
  module.def("get_num_threads", &get_num_threads);
  add_table(module);
  add_data(module);
  add_model(module);
  add_learner(module);
  add_judging(module);
}

}  // namespace harmonium::python
