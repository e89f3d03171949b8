// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/rtl/soc_bench.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace sideband::rtl {
namespace {

constexpr uint32_t kBootStride = 0x10000;  // as in soc.sv
constexpr uint32_t kEbreak = 0x00100073;
constexpr size_t kWordsPerLine = 4;

template <size_t N>
void AddWires(uint64_t wires, std::array<uint64_t, N>& counts) {
  for (size_t i = 0; i < N; ++i) counts[i] += wires >> i & 1;
}

}  // namespace

SocBench::SocBench() {
  context_->traceEverOn(true);
  top_->reset = 1;
  for (size_t core = 0; core < kCores; ++core) Load(core, {&kEbreak, 1});
}

SocBench::~SocBench() {
  top_->final();
  if (trace_ != nullptr) trace_->close();
}

void SocBench::Load(size_t core, std::span<const uint32_t> words) {
  top_->load_valid = 1;
  const uint32_t first_line = core * kBootStride / (4 * kWordsPerLine);
  for (size_t i = 0; i < words.size(); i += kWordsPerLine) {
    top_->load_line = first_line + i / kWordsPerLine;
    for (size_t word = 0; word < kWordsPerLine; ++word) {
      top_->load_data[word] = i + word < words.size() ? words[i + word] : 0;
    }
    Clock();
  }
  top_->load_valid = 0;
}

void SocBench::Trace(const std::string& path) {
  trace_ = std::make_unique<VerilatedVcdC>();
  top_->trace(trace_.get(), /*levels=*/1);
  trace_->open(path.c_str());
}

void SocBench::EndTrace() {
  trace_->close();
  trace_.reset();
}

void SocBench::Start() {
  Clock();
  top_->reset = 0;
}

void SocBench::Clock() {
  top_->clk = 0;
  top_->eval();
  top_->clk = 1;
  top_->eval();
}

void SocBench::SetPrivilege(size_t core, mcu::HpcPrivilege privilege) {
  const uint32_t shift = 2 * core;
  top_->privilege = (top_->privilege & ~(3u << shift)) | static_cast<uint32_t>(privilege) << shift;
}

void SocBench::Switch(size_t core, bool useren) {
  top_->switch_strobe |= 1u << core;
  if (useren) top_->switch_useren |= 1u << core;
}

void SocBench::Tally() {
  history_.push_back(history_.back());
  for (size_t core = 0; core < kCores; ++core) {
    AddWires(top_->core_events >> core * kCoreEvents, history_.back().cores[core]);
  }
  AddWires(top_->device_events, history_.back().device);
}

void SocBench::RecordStores() {
  for (size_t core = 0; core < kCores; ++core) {
    if ((top_->stored_valid >> core & 1) == 0) continue;
    const auto address = static_cast<uint32_t>(top_->stored_address >> 32 * core);
    results_[core][address - core * kBootStride] = static_cast<uint32_t>(top_->stored_data >> 32 * core);
  }
}

void SocBench::Cycle() {
  const uint64_t time = 10 * cycle();
  top_->clk = 0;
  top_->eval();
  if (trace_ != nullptr) trace_->dump(time);
  Tally();
  RecordStores();
  top_->clk = 1;
  top_->eval();
  if (trace_ != nullptr) trace_->dump(time + 5);
  top_->switch_strobe = top_->switch_useren = 0;
}

void SocBench::FirmwareWrite(mcu::HpcRegister which, uint64_t value) {
  top_->firmware_valid = top_->firmware_write = 1;
  top_->firmware_register = static_cast<uint8_t>(which);
  top_->firmware_data = value;
  Cycle();
  top_->firmware_valid = top_->firmware_write = 0;
}

uint64_t SocBench::FirmwareRead(mcu::HpcRegister which) {
  top_->firmware_valid = 1;
  top_->firmware_register = static_cast<uint8_t>(which);
  top_->clk = 0;
  top_->eval();
  const uint64_t result = top_->firmware_result;
  Cycle();
  top_->firmware_valid = 0;
  return result;
}

std::optional<SocBench::Reading> SocBench::Read(uint16_t module, size_t counters) {
  using mcu::HpcRegister;
  FirmwareWrite(HpcRegister::kHpcm, ~uint64_t{0} >> (64 - counters));
  FirmwareWrite(HpcRegister::kHpcc, uint64_t{module} << hpc::kHpccModuleLsb | hpc::kHpccStamp | hpc::kHpccTrigger);
  uint64_t hpcc = FirmwareRead(HpcRegister::kHpcc);
  if ((hpcc & hpc::kHpccRefused) != 0) return std::nullopt;
  while ((hpcc & hpc::kHpccTrigger) != 0) hpcc = FirmwareRead(HpcRegister::kHpcc);
  Reading reading{.module = module, .stamp = FirmwareRead(HpcRegister::kHpcr)};
  std::generate_n(std::back_inserter(reading.values), counters, [&] { return FirmwareRead(HpcRegister::kHpcr); });
  return reading;
}

uint32_t SocBench::Result(size_t core, uint32_t offset) const {
  const auto found = results_[core].find(kResults + offset);
  return found == results_[core].end() ? 0 : found->second;
}

uint64_t SocBench::WideResult(size_t core, uint32_t offset) const {
  return Result(core, offset) | uint64_t{Result(core, offset + 4)} << 32;
}

std::vector<uint32_t> ReadProgram(const std::string& name) {
  std::ifstream file(std::string(std::getenv("TEST_SRCDIR")) + "/sideband/tests/lab/rtl/programs/" + name + ".hex");
  std::vector<uint32_t> words;
  for (uint32_t word; file >> std::hex >> word;) words.push_back(word);
  return words;
}

}  // namespace sideband::rtl
