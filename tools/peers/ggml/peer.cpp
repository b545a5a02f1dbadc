// ggml's products as `peers.h` has them: what llama.cpp does for one linear layer.
//
// A call is a node `ggml_mul_mat` of a graph that ggml's own threads compute: f32 activations are
// quantized inside it, and results are f32. A graph holds as many nodes as a sample has calls, as a
// model's graph holds its layers, so that starting a graph is not in every call. Weights lie in the
// buffer that llama.cpp would put them in: the first of the CPU's extra buffer types that takes them
// (which repacks them), or else the CPU's own.
#include "peers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

namespace {

[[noreturn]] void stop(const char *reason) {
  std::fprintf(stderr, "ggml: %s\n", reason);
  std::abort();
}

struct ContextEnd {
  void operator()(ggml_context *context) const { ggml_free(context); }
};
using Context = std::unique_ptr<ggml_context, ContextEnd>;

/// Room for so many tensors, and for a graph of so many nodes; no data.
Context make_context(size_t tensors, size_t nodes) {
  const size_t bytes = ggml_tensor_overhead() * tensors + ggml_graph_overhead_custom(nodes, false);
  Context context(ggml_init({bytes, nullptr, true}));
  if (!context) stop("no memory for a context");
  return context;
}

ggml_backend_dev_t cpu() { return ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0); }

/// Upper case, as the types of files are written.
const std::vector<std::pair<std::string, ggml_type>> &known_types() {
  static const auto types = [] {
    std::vector<std::pair<std::string, ggml_type>> found;
    for (int value = 0; value < GGML_TYPE_COUNT; value++) {
      const auto type = static_cast<ggml_type>(value);
      if (!ggml_is_quantized(type) || !ggml_get_type_traits_cpu(type)->vec_dot) continue;
      std::string name = ggml_type_name(type);
      for (char &letter : name) letter = static_cast<char>(std::toupper(letter));
      found.emplace_back(name, type);
    }
    return found;
  }();
  return types;
}

/// The buffer type that llama.cpp would choose for the weights of a linear layer.
ggml_backend_buffer_type_t weight_place(ggml_type type, int64_t rows, int64_t columns) {
  const auto extra = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
      ggml_backend_reg_get_proc_address(ggml_backend_cpu_reg(), "ggml_backend_dev_get_extra_bufts"));
  const Context context = make_context(3, 1);
  for (auto *place = extra ? extra(cpu()) : nullptr; place && *place; place++) {
    ggml_tensor *weights = ggml_new_tensor_2d(context.get(), type, columns, rows);
    ggml_tensor *input = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, columns, 512);
    ggml_tensor *product = ggml_mul_mat(context.get(), weights, input);
    weights->buffer = ggml_backend_buft_alloc_buffer(*place, 0);
    const bool takes = weights->buffer && ggml_backend_dev_supports_op(cpu(), product);
    ggml_backend_buffer_free(weights->buffer);
    if (takes) return *place;
    ggml_reset(context.get());
  }
  return ggml_backend_cpu_buffer_type();
}

}  // namespace

struct peer_threads {
  ggml_threadpool *pool;
  int count;
};

struct peer_product {
  peer_threads *threads;
  ggml_type type;
  peer_operands operands;
  /// The distinct rows, packed as the type is specified.
  std::vector<uint8_t> packed;
  ggml_backend_buffer_type_t place;
  Context weights;
  std::vector<ggml_tensor *> copies;
  ggml_backend_buffer_t buffer = nullptr;
  size_t turn = 0;
  Context graph_context;
  ggml_cgraph *graph = nullptr;
  ggml_cplan plan{};
  std::vector<uint8_t> work;
  std::vector<float> output;

  ~peer_product() { ggml_backend_buffer_free(buffer); }

  void pack();
  void lay_out();
  void plan_graph(int64_t node_count);
};

/// Quantizes the distinct rows; types that insist on an importance of columns get the same for all.
void peer_product::pack() {
  const std::vector<float> importance(static_cast<size_t>(operands.columns), 1.0f);
  packed.resize(ggml_row_size(type, operands.columns) * operands.distinct_rows);
  ggml_quantize_chunk(
      type, operands.weights, packed.data(), 0, operands.distinct_rows, operands.columns,
      ggml_quantize_requires_imatrix(type) ? importance.data() : nullptr);
}

/// Writes the copies to where they will be read.
void peer_product::lay_out() {
  place = weight_place(type, operands.rows, operands.columns);
  const size_t row_bytes = ggml_row_size(type, operands.columns);
  const size_t matrix_bytes = row_bytes * operands.rows;
  const size_t count = std::max<size_t>(1, (operands.total_bytes + matrix_bytes - 1) / matrix_bytes);
  weights = make_context(count, 1);
  for (size_t index = 0; index < count; index++)
    copies.push_back(ggml_new_tensor_2d(weights.get(), type, operands.columns, operands.rows));
  buffer = ggml_backend_alloc_ctx_tensors_from_buft(weights.get(), place);
  if (!buffer) stop("no memory for weights");
  // Huge pages, as our weights have them; whole ones, before anything is written.
  const auto begin = reinterpret_cast<uintptr_t>(ggml_backend_buffer_get_base(buffer));
  const uintptr_t first = (begin + 4095) / 4096 * 4096;
  const uintptr_t last = (begin + ggml_backend_buffer_get_size(buffer)) / 4096 * 4096;
  if (last > first) madvise(reinterpret_cast<void *>(first), last - first, MADV_HUGEPAGE);
  std::vector<uint8_t> matrix(matrix_bytes);
  for (int64_t row = 0; row < operands.rows; row++) {
    const uint8_t *source = packed.data() + row % operands.distinct_rows * row_bytes;
    std::copy(source, source + row_bytes, matrix.data() + row * row_bytes);
  }
  for (ggml_tensor *copy : copies) ggml_backend_tensor_set(copy, matrix.data(), 0, matrix_bytes);
}

/// A graph of so many products into the same output.
void peer_product::plan_graph(int64_t node_count) {
  graph_context = make_context(node_count + 1, node_count + 1);
  ggml_context *context = graph_context.get();
  ggml_tensor *input =
      ggml_new_tensor_2d(context, GGML_TYPE_F32, operands.columns, operands.tokens);
  input->data = const_cast<float *>(operands.input);
  graph = ggml_new_graph_custom(context, node_count + 1, false);
  for (int64_t index = 0; index < node_count; index++) {
    ggml_tensor *node = ggml_mul_mat(context, copies[index % copies.size()], input);
    node->data = output.data();
    ggml_build_forward_expand(graph, node);
  }
  if (ggml_graph_n_nodes(graph) != node_count) stop("a graph without its nodes");
  plan = ggml_graph_plan(graph, threads->count, threads->pool);
  work.resize(plan.work_size + 64);
  plan.work_data =
      reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(work.data()) + 63) / 64 * 64);
}

namespace {

const char *library_name() {
  static const std::string name = std::string("ggml ") + ggml_version();
  return name.c_str();
}

const char *type_name(int32_t index) {
  const auto &types = known_types();
  if (index < 0 || static_cast<size_t>(index) >= types.size()) return nullptr;
  return types[index].first.c_str();
}

peer_threads *start_threads(int32_t count) {
  // Its log has a line for every matrix that it repacks.
  ggml_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
  ggml_cpu_init();
  // The defaults are llama.cpp's: waiting threads poll before they sleep.
  ggml_threadpool_params parameters = ggml_threadpool_params_default(count);
  ggml_threadpool *pool = ggml_threadpool_new(&parameters);
  if (!pool) stop("no threads");
  return new peer_threads{pool, count};
}

void rest_threads(peer_threads *threads) { ggml_threadpool_pause(threads->pool); }

void end_threads(peer_threads *threads) {
  ggml_threadpool_free(threads->pool);
  delete threads;
}

peer_product *make_product(
    peer_threads *threads, const char *type, const peer_operands *operands) {
  for (const auto &known : known_types()) {
    if (known.first != type) continue;
    if (operands->columns % ggml_blck_size(known.second) != 0) return nullptr;
    auto *product = new peer_product();
    product->threads = threads;
    product->type = known.second;
    product->operands = *operands;
    product->output.resize(operands->rows * operands->tokens);
    product->pack();
    product->lay_out();
    return product;
  }
  return nullptr;
}

void free_product(peer_product *product) { delete product; }

size_t weight_bytes(const peer_product *product) { return ggml_nbytes(product->copies[0]); }

const char *place(const peer_product *product) { return ggml_backend_buft_name(product->place); }

void dequantize_row(const peer_product *product, int64_t row, float *values) {
  const size_t row_bytes = ggml_row_size(product->type, product->operands.columns);
  const uint8_t *source = product->packed.data() + row % product->operands.distinct_rows * row_bytes;
  ggml_get_type_traits(product->type)->to_float(source, values, product->operands.columns);
}

void multiply(peer_product *product, int64_t count) {
  if (!product->graph || ggml_graph_n_nodes(product->graph) != count) product->plan_graph(count);
  for (int64_t index = 0; index < count; index++) {
    ggml_graph_node(product->graph, static_cast<int>(index))->src[0] =
        product->copies[product->turn];
    product->turn = product->turn + 1 == product->copies.size() ? 0 : product->turn + 1;
  }
  if (ggml_graph_compute(product->graph, &product->plan) != GGML_STATUS_SUCCESS) {
    stop("a graph failed");
  }
}

const float *output(const peer_product *product) { return product->output.data(); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const peer_functions peers_functions = {
    library_name,
    type_name,
    start_threads,
    rest_threads,
    end_threads,
    make_product,
    free_product,
    weight_bytes,
    place,
    dequantize_row,
    multiply,
    output,
};
