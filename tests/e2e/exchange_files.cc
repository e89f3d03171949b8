// SPDX-License-Identifier: Apache-2.0
//
// Writes what an exchange of keys needs into a folder: a sealer's identity, a secure processor, and a sealing file that
// trusts guests with the keys of these VMs, with new epochs every second. The measurement is 96 times "c". With a
// device, the identity is that device's.
//   exchange_files FOLDER VM_UUID... [--device DEVICE_UUID]
#include <cstdio>
#include <cstring>
#include <vector>

#include "proto/base/uuid.h"
#include "proto/exchange/exchange_fixture.h"

int main(int argc, char** argv) {
  using sideband::exchange::ExchangeFixture;
  std::vector<sideband::Uuid> vms;
  sideband::Uuid device = ExchangeFixture::device();
  for (int i = 2; i < argc; ++i) {
    const bool is_device = std::strcmp(argv[i], "--device") == 0 && i + 1 < argc;
    const auto uuid = sideband::Uuid::Parse(argv[is_device ? ++i : i]);
    if (!uuid.ok()) {
      std::fprintf(stderr, "%s: not a UUID\n", argv[i]);
      return 2;
    }
    if (is_device) {
      device = *uuid;
    } else {
      vms.push_back(*uuid);
    }
  }
  if (vms.empty()) return 2;
  const ExchangeFixture fixture(argv[1], "{rotate_every: 1s}", vms, device);
  return 0;
}
