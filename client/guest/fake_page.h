// SPDX-License-Identifier: Apache-2.0
//
// The registers of one client as a page without time: a request is complete after a number of reads of hpcc. A test can
// let a switch happen before any access.
//   FakePage page;
//   page.counts = {{70, 5}};
//   page.before_access = [&](size_t access) { if (access == 3) page.Switch(); };
#ifndef SIDEBAND_CLIENT_GUEST_FAKE_PAGE_H_
#define SIDEBAND_CLIENT_GUEST_FAKE_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "client/guest/register_page.h"

namespace sideband::client {

class FakePage final : public RegisterPage {
 public:
  std::map<uint16_t, uint64_t> counts;  // by event; of module 0
  uint64_t stamp = 1000;
  int polls = 0;         // reads of hpcc before a request is complete; negative: it never is
  bool is_user = false;  // useren cannot be written
  uint64_t useren = 0;
  std::function<void(size_t access)> before_access = [](size_t) {};
  size_t accesses = 0;
  size_t performs = 0;

  void Switch() {
    fifo_.clear();
    hpcm_ = trigger_ = refused_ = readerror_ = 0;
    interrupted_ = hpc::kHpccInterrupted;
  }

  absl::Status Perform(std::span<hpc::PageAccess> batch) override {
    ++performs;
    for (hpc::PageAccess& access : batch) {
      before_access(accesses++);
      access.kind == hpc::AccessKind::kRead ? Read(access) : Write(access);
    }
    return absl::OkStatus();
  }
  bool has_request() const { return trigger_ != 0; }

 private:
  void Read(hpc::PageAccess& access) {
    if (access.offset % 8 == 4) {
      access.value = access.offset / 8 * 8 == hpc::kHpcrOffset ? high_half_ : 0;
      return;
    }
    if (access.offset == hpc::kHpccOffset) access.value = ReadHpcc();
    if (access.offset == hpc::kHpcrOffset) access.value = Pop();
    if (access.size == 8) return;
    high_half_ = access.value >> 32;
    access.value &= 0xFFFFFFFF;
  }

  uint64_t ReadHpcc() {
    if (trigger_ != 0 && polls >= 0 && left_-- == 0) Complete();
    return trigger_ | interrupted_ | (fifo_.empty() ? hpc::kHpccEmpty : 0) | readerror_ | refused_ | useren;
  }

  uint64_t Pop() {
    if (fifo_.empty()) {
      readerror_ = hpc::kHpccReaderror;
      return 0;
    }
    const uint64_t value = fifo_.front();
    fifo_.pop_front();
    return value;
  }

  void Complete() {
    trigger_ = 0;
    if ((request_ & hpc::kHpccStamp) != 0) fifo_.push_back(stamp);
    const auto extend = static_cast<uint16_t>((request_ & hpc::kHpccExtend) >> hpc::kHpccExtendLsb);
    for (uint16_t bit = 0; bit < hpc::kCountersPerManager; ++bit) {
      if ((taken_ >> bit & 1) != 0) fifo_.push_back(counts[extend * hpc::kCountersPerManager + bit]);
    }
  }

  void Write(const hpc::PageAccess& access) {
    if (access.offset == hpc::kHpccOffset) WriteHpcc(access.value);
    if (trigger_ != 0) return;
    if (access.offset == hpc::kHpcmOffset) {
      hpcm_ = access.value;
      fifo_.clear();
      interrupted_ = readerror_ = 0;
    }
    if (access.offset == hpc::kHpcmOffset + 4) hpcm_ |= access.value << 32;
  }

  void WriteHpcc(uint64_t value) {
    if (!is_user) useren = value & hpc::kHpccUseren;
    if ((value & hpc::kHpccTrigger) == 0) trigger_ = 0;
    if ((value & hpc::kHpccTrigger) == 0 || trigger_ != 0) return;
    const bool is_allowed = (value & hpc::kHpccModule) == 0 && (!is_user || useren != 0);
    refused_ = is_allowed ? 0 : hpc::kHpccRefused;
    if (!is_allowed) return;
    fifo_.clear();
    request_ = value;
    taken_ = std::exchange(hpcm_, 0);
    trigger_ = hpc::kHpccTrigger;
    left_ = polls;
  }

  uint64_t trigger_ = 0, interrupted_ = hpc::kHpccInterrupted, readerror_ = 0, refused_ = 0;
  uint64_t hpcm_ = 0, taken_ = 0, request_ = 0, high_half_ = 0;
  int left_ = 0;
  std::deque<uint64_t> fifo_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_GUEST_FAKE_PAGE_H_
