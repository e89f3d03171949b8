// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/string_view.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/transport/transport.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/bus_name.h"
#include "proto/smbus/transfer.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/stopwatch.h"

namespace sideband::bench {
namespace {

constexpr int kSessionRounds = 9;
constexpr int kTransactions = 20'000;

// Answers every read with a given block, and accepts every write.
class ReadyBus final : public daemon::Transport {
 public:
  ReadyBus(uint8_t code, uint8_t size) {
    Bytes& block = answer_.read.emplace_back(1 + size);
    block[0] = size;
    const uint8_t before[] = {smbus::AddressByte(smbus::kMailboxAddress, false), code,
                              smbus::AddressByte(smbus::kMailboxAddress, true)};
    block.push_back(smbus::Pec(block, smbus::Pec(before)));
  }
  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override {
    return transfer.messages.size() == 1 ? smbus::TransferResult() : answer_;
  }

 private:
  smbus::TransferResult answer_;
};

template <typename Transact>
absl::StatusOr<Row> MeasureTransaction(const char* name, const Transact& transact) {
  BestTime best;
  absl::Status status;
  for (int round = 0; round < kSessionRounds && status.ok(); ++round) {
    best.Measure([&] {
      for (int i = 0; i < kTransactions && status.ok(); ++i) status = transact();
    });
  }
  SIDEBAND_RETURN_IF_ERROR(status);
  return Row{name, best.seconds() * 1e6 / kTransactions, "us", "a transaction, beyond the wire"};
}

}  // namespace

absl::StatusOr<Rows> MeasureSessionOverhead() {
  ReadyBus registers(mailbox::kCommandRegister, mailbox::kRegisterBytes);
  ReadyBus windows(mailbox::kWindowFirst, mailbox::kWindowBytes);
  const auto ignore = [](absl::string_view) {};
  daemon::RegisterPort port(registers, smbus::kMailboxAddress, ignore);
  daemon::RegisterPort window_port(windows, smbus::kMailboxAddress, ignore);
  Rows rows(3);
  SIDEBAND_ASSIGN_OR_RETURN(rows[0], MeasureTransaction("mailbox: session, a register written",
                                                        [&] { return port.Write(mailbox::kDataRegister, 1); }));
  SIDEBAND_ASSIGN_OR_RETURN(rows[1], MeasureTransaction("mailbox: session, a register read",
                                                        [&] { return port.Read(mailbox::kCommandRegister).status(); }));
  SIDEBAND_ASSIGN_OR_RETURN(rows[2], MeasureTransaction("mailbox: session, a window of 255 bytes read", [&] {
                              return window_port.ReadBlock(mailbox::kWindowFirst, mailbox::kWindowBytes).status();
                            }));
  return rows;
}

}  // namespace sideband::bench
