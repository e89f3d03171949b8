// SPDX-License-Identifier: Apache-2.0
//
// A catalogue's payload from a hostile device. What is taken for one survives being written again.
#include "proto/mailbox/catalog.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/simulation/hostile_device.h"

namespace sideband::fuzz {

std::vector<Bytes> Seeds() {
  return {mailbox::EncodeCatalog({}), mailbox::EncodeCatalog(tests::HostileDevice::ExampleCatalog())};
}

}  // namespace sideband::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto catalog = sideband::mailbox::DecodeCatalog({data, size});
  if (!catalog.ok()) return 0;
  const auto again = sideband::mailbox::DecodeCatalog(sideband::mailbox::EncodeCatalog(*catalog));
  FUZZ_CHECK(again.ok() && *again == *catalog);
  return 0;
}
