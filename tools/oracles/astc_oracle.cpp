// Unpacks ASTC 6x6 blocks with libastcenc, for the tests of our own decoder:
//
//     $ c++ -O2 -DASTCENC_DYNAMIC_LIBRARY tools/oracles/astc_oracle.cpp -lastcenc -o astc-oracle
//     $ astc-oracle ldr < blocks > results
//
// The argument is the profile: ldr, srgb, hdr or hdr-ldr-alpha. Blocks are 16 bytes each. A result
// is 4 + 576 + 144 bytes: whether the block is an error block (one byte, then three zeros), 36
// texels of four float32 in row-major order, and 36 texels of four unorm8.
//
//     $ astc-oracle ldr time < blocks
//
// prints the seconds of processor time that one thread needs to decompress the blocks as one image
// of single-row blocks, to unorm8 and to float32, the best of three each.
#include <astcenc.h>
#include <time.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

const unsigned int kSide = 6, kTexels = 36;

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

// The image has the blocks side by side: texel (x, y) of block b is at column 6 b + x of row y.
bool decompress(astcenc_context* context, const std::vector<uint8_t>& blocks, astcenc_type type,
                void* texels) {
  astcenc_image image{};
  image.dim_x = static_cast<unsigned int>(blocks.size() / 16) * kSide;
  image.dim_y = kSide;
  image.dim_z = 1;
  image.data_type = type;
  image.data = &texels;
  const astcenc_swizzle swizzle{ASTCENC_SWZ_R, ASTCENC_SWZ_G, ASTCENC_SWZ_B, ASTCENC_SWZ_A};
  astcenc_error error =
      astcenc_decompress_image(context, blocks.data(), blocks.size(), &image, &swizzle, 0);
  astcenc_decompress_reset(context);
  return error == ASTCENC_SUCCESS;
}

template <typename T>
void write_block(const std::vector<T>& texels, size_t block, size_t count) {
  T out[kTexels * 4];
  for (unsigned int y = 0; y < kSide; ++y)
    memcpy(out + y * kSide * 4, &texels[(y * count + block) * kSide * 4], kSide * 4 * sizeof(T));
  fwrite(out, sizeof(T), kTexels * 4, stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const char* names[] = {"srgb", "ldr", "hdr-ldr-alpha", "hdr"};
  int profile = -1;
  for (int index = 0; argc > 1 && index < 4; ++index)
    if (strcmp(argv[1], names[index]) == 0) profile = index;
  if (profile < 0) {
    fprintf(stderr, "usage: astc-oracle ldr|srgb|hdr|hdr-ldr-alpha [time] < BLOCKS\n");
    return 2;
  }
  astcenc_config config{};
  astcenc_context* context = nullptr;
  if (astcenc_config_init(static_cast<astcenc_profile>(profile), kSide, kSide, 1,
                          ASTCENC_PRE_FASTEST, ASTCENC_FLG_DECOMPRESS_ONLY,
                          &config) != ASTCENC_SUCCESS ||
      astcenc_context_alloc(&config, 1, &context) != ASTCENC_SUCCESS)
    return 4;
  std::vector<uint8_t> blocks;
  uint8_t buffer[16 * 4096];
  for (;;) {
    size_t got = fread(buffer, 1, sizeof buffer, stdin);
    blocks.insert(blocks.end(), buffer, buffer + got);
    const bool ended = got < sizeof buffer;
    if (blocks.size() % 16 != 0) return 3;
    const size_t count = blocks.size() / 16;
    if (argc > 2) {
      if (!ended) continue;
      std::vector<uint8_t> bytes(count * kTexels * 4);
      std::vector<float> floats(count * kTexels * 4);
      double best[2] = {1e30, 1e30};
      for (int repetition = 0; repetition < 6; ++repetition) {
        const double start = processor_seconds();
        if (repetition % 2 == 0
                ? !decompress(context, blocks, ASTCENC_TYPE_U8, bytes.data())
                : !decompress(context, blocks, ASTCENC_TYPE_F32, floats.data()))
          return 4;
        const double seconds = processor_seconds() - start;
        if (seconds < best[repetition % 2]) best[repetition % 2] = seconds;
      }
      printf("%.6f %.6f\n", best[0], best[1]);
      return 0;
    }
    if (count > 0) {
      std::vector<uint8_t> bytes(count * kTexels * 4);
      std::vector<float> floats(count * kTexels * 4);
      if (!decompress(context, blocks, ASTCENC_TYPE_U8, bytes.data()) ||
          !decompress(context, blocks, ASTCENC_TYPE_F32, floats.data()))
        return 4;
      for (size_t block = 0; block < count; ++block) {
        astcenc_block_info info{};
        if (astcenc_get_block_info(context, &blocks[block * 16], &info) != ASTCENC_SUCCESS)
          return 4;
        // The query knows nothing of HDR constants in the sRGB profile, which decompress to NaN.
        const float first = floats[block * kSide * 4];
        const bool is_error = info.is_error_block || (profile < 2 && first != first);
        const uint8_t flag[4] = {is_error, 0, 0, 0};
        fwrite(flag, 1, 4, stdout);
        write_block(floats, block, count);
        write_block(bytes, block, count);
      }
    }
    blocks.clear();
    if (ended) break;
  }
  astcenc_context_free(context);
  return fflush(stdout) == 0 ? 0 : 4;
}
