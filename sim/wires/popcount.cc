// SPDX-License-Identifier: Apache-2.0
#include "sim/wires/popcount.h"

#include <vector>

#include "sim/wires/popcount_kernels.h"

namespace sideband::sim {

absl::string_view PopcountPathName(PopcountPath path) {
  switch (path) {
    case PopcountPath::kPortable:
      return "portable";
    case PopcountPath::kAvx2:
      return "avx2";
    case PopcountPath::kAvx512:
      return "avx512";
  }
  return "";
}

std::span<const PopcountPath> SupportedPaths() {
  static const auto& paths = *[] {
    auto* list = new std::vector<PopcountPath>{PopcountPath::kPortable};
#if defined(__x86_64__)
    if (HasAvx2()) list->push_back(PopcountPath::kAvx2);
    if (HasAvx512()) list->push_back(PopcountPath::kAvx512);
#endif
    return list;
  }();
  return paths;
}

void AddPopcounts(PopcountPath path, BitRows words, CycleRange bits, std::span<const WireId> rows,
                  std::span<uint64_t> sums) {
  if (bits.begin == bits.end) return;
#if defined(__x86_64__)
  if (path == PopcountPath::kAvx512) return AddPopcountsAvx512(words, bits, rows, sums);
  if (path == PopcountPath::kAvx2) return AddPopcountsAvx2(words, bits, rows, sums);
#endif
  AddPopcountsPortable(words, bits, rows, sums);
}

}  // namespace sideband::sim
