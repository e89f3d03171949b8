// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/laws/laws_reader.h"

#include <rapidcheck.h>

#include <bit>

namespace sideband::mcu {
namespace {

uint64_t Configuration(uint32_t module, uint64_t bits) {
  return uint64_t{module} << hpc::kHpccModuleLsb | hpc::kHpccUseren | bits;
}

}  // namespace

LawsReader::LawsReader(const LawsCase& test, uint32_t slice, Chip& chip)
    : test_(test), slice_(slice), counted_(SliceEvents(test)), chip_(chip), random_(test.seed + slice) {}

uint64_t LawsReader::Read(HpcRegister which, HpcHalf half) {
  return chip_.hpc().Read(slice_, which, chip_.now(), half);
}

void LawsReader::WriteHpcm(uint64_t bitmap) {
  const bool halves = Chance(2);
  const auto write = [&](uint64_t value, HpcHalf half) {
    chip_.hpc().Write(slice_, HpcRegister::kHpcm, value, HpcPrivilege::kUser, chip_.now(), half);
  };
  write(bitmap, halves ? HpcHalf::kLow : HpcHalf::kWhole);
  if (halves) write(bitmap >> 32, HpcHalf::kHigh);
}

void LawsReader::Act(std::optional<uint32_t> resident) {
  if (!resident || Chance(2)) return;
  if (reading_) {
    if (!Chance(8)) return Collect();
    chip_.hpc().Write(slice_, HpcRegister::kHpcc, 0, HpcPrivilege::kUser, chip_.now());
    reading_.reset();
  }
  return counted_ == 0 || Chance(8) ? StartRefused(*resident) : Start(*resident);
}

void LawsReader::Start(uint32_t tenant) {
  const bool vm = IsVm(tenant) || Chance(2);
  const uint64_t drawn = random_() & counted_;
  const uint32_t module = (vm ? hpc::kModuleVm : hpc::kModuleContext) + slice_;
  reading_ = {.block = BlockOf(vm ? tenant - tenant % kPlacesOfVm : tenant),
              .bitmap = drawn == 0 ? counted_ : drawn,
              .started = chip_.now(),
              .eager = Chance(2)};
  WriteHpcm(reading_->bitmap);
  RC_ASSERT(chip_.hpc().Write(slice_, HpcRegister::kHpcc, Configuration(module, hpc::kHpccTrigger | hpc::kHpccStamp),
                              vm ? HpcPrivilege::kSupervisor : HpcPrivilege::kUser, chip_.now()));
  RC_ASSERT((Read(HpcRegister::kHpcc) & (hpc::kHpccTrigger | hpc::kHpccRefused | hpc::kHpccInterrupted)) ==
            hpc::kHpccTrigger);
}

// Another slice, the VM as a user, the device, an event that does not exist or that no slice counts: all alike.
void LawsReader::StartRefused(uint32_t tenant) {
  const uint32_t kind = IsVm(tenant) ? 3 : random_() % 4;
  const uint32_t modules[] = {slice_ + 1, hpc::kModuleVm + slice_, hpc::kModuleDevice, hpc::kModuleContext + slice_};
  const uint64_t absent = uint64_t{1} << test_.events, uncounted = (absent - 1) & ~counted_;
  WriteHpcm(kind < 3 ? 1 : uncounted != 0 && Chance(2) ? uncounted : absent);
  chip_.hpc().Write(slice_, HpcRegister::kHpcc, Configuration(modules[kind], hpc::kHpccTrigger), HpcPrivilege::kUser,
                    chip_.now());
  RC_ASSERT((Read(HpcRegister::kHpcc) & (hpc::kHpccTrigger | hpc::kHpccRefused | hpc::kHpccEmpty)) ==
            (hpc::kHpccRefused | hpc::kHpccEmpty));
}

void LawsReader::Collect() {
  const auto may_read = [this] {
    const uint64_t hpcc = Read(HpcRegister::kHpcc);
    const bool patient = !reading_->eager && (hpcc & hpc::kHpccTrigger) != 0;
    return !patient && (hpcc & hpc::kHpccEmpty) == 0;
  };
  const bool halves = Chance(2);
  while (may_read()) {
    uint64_t word = Read(HpcRegister::kHpcr, halves ? HpcHalf::kLow : HpcHalf::kWhole);
    if (halves) word |= Read(HpcRegister::kHpcr, HpcHalf::kHigh) << 32;
    reading_->words.push_back(word);
  }
  if (reading_->words.size() == 1 + static_cast<size_t>(std::popcount(reading_->bitmap))) Check();
}

// R1, R2, R5: all words are of the request, and of the cycle in its stamp.
void LawsReader::Check() {
  const uint64_t stamp = reading_->words.front();
  RC_LOG() << "reading of block " << reading_->block << " at cycle " << stamp << "\n";
  RC_ASSERT(stamp >= reading_->started + test_.hop_cycles);
  RC_ASSERT(reading_->truths.count(stamp) == 1u);
  const EventCounts& truth = reading_->truths.at(stamp);
  size_t word = 1;
  for (uint64_t rest = reading_->bitmap; rest != 0; rest &= rest - 1) {
    RC_ASSERT(reading_->words[word++] == truth[std::countr_zero(rest)]);
  }
  RC_ASSERT(Read(HpcRegister::kHpcm) == reading_->bitmap);
  const uint64_t state = hpc::kHpccTrigger | hpc::kHpccInterrupted | hpc::kHpccEmpty | hpc::kHpccReaderror;
  RC_ASSERT((Read(HpcRegister::kHpcc) & state) == hpc::kHpccEmpty);
  reading_.reset();
  ++readings_;
}

void LawsReader::Note(const LawsTruth& truth) {
  if (reading_) reading_->truths.try_emplace(chip_.now(), truth.Block(reading_->block));
}

// R7: nothing of what was there before is seen.
void LawsReader::CheckSwitch() {
  reading_.reset();
  const uint64_t without_useren = Read(HpcRegister::kHpcc) & ~hpc::kHpccUseren;
  RC_ASSERT(without_useren == (hpc::kHpccInterrupted | hpc::kHpccEmpty));
  RC_ASSERT(Read(HpcRegister::kHpcm) == 0u);
  RC_ASSERT(Read(HpcRegister::kHpcr, HpcHalf::kHigh) == 0u);
  RC_ASSERT(Read(HpcRegister::kHpcr) == 0u);
}

}  // namespace sideband::mcu
