// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/wiring.h"

namespace sideband::mcu {

absl::StatusOr<Wiring> MakeWiring(const ChipFile& file) {
  if (file.waveform) return MakeWaveformWiring(file);
  return file.programs.empty() ? MakeSyntheticWiring(file) : MakeProgramWiring(file);
}

}  // namespace sideband::mcu
