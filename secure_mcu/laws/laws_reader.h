// SPDX-License-Identifier: Apache-2.0
//
// A program on a slice that reads live counts by the registers (registers.md), at cycles and in a manner drawn from the
// case's seed. Every reading must be the truth of the cycle in its stamp; a violation fails the property.
//   LawsReader reader(test, /*slice=*/0, *chip);
//   reader.Act(truth.resident(0));                  // an access, or none
//   reader.Note(truth);                             // at each stop of the read path: values may have been taken
//   reader.CheckSwitch();                           // after a switch of the slice
#ifndef SIDEBAND_SECURE_MCU_LAWS_LAWS_READER_H_
#define SIDEBAND_SECURE_MCU_LAWS_LAWS_READER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "secure_mcu/chip/chip.h"
#include "secure_mcu/laws/laws_case.h"
#include "secure_mcu/laws/laws_truth.h"

namespace sideband::mcu {

class LawsReader {
 public:
  // All must outlive the object.
  LawsReader(const LawsCase& test, uint32_t slice, Chip& chip);

  void Act(std::optional<uint32_t> resident);
  void Note(const LawsTruth& truth);
  void CheckSwitch();

  uint64_t readings() const { return readings_; }

 private:
  struct Reading {
    size_t block = 0;
    uint64_t bitmap = 0;
    uint64_t started = 0;                    // cycle
    std::vector<uint64_t> words;             // the stamp and the values
    bool eager = false;                      // reads as soon as the FIFO is not empty
    std::map<uint64_t, EventCounts> truths;  // of the block, at the cycles of grants
  };

  bool Chance(uint32_t in) { return random_() % in == 0; }
  uint64_t Read(HpcRegister which, HpcHalf half = HpcHalf::kWhole);
  void WriteHpcm(uint64_t bitmap);
  void Start(uint32_t tenant);
  void StartRefused(uint32_t tenant);
  void Collect();
  void Check();

  const LawsCase& test_;
  const uint32_t slice_;
  const uint64_t counted_;  // events
  Chip& chip_;
  std::mt19937 random_;
  std::optional<Reading> reading_;
  uint64_t readings_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_LAWS_LAWS_READER_H_
