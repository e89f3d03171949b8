// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "proto/exposition/family_names.h"
#include "proto/exposition/text.h"
#include "proto/mailbox/catalog.h"

namespace sideband {
namespace {

void UseFamilyNames(const mailbox::Catalog& catalog, size_t event, std::string& out) {
  //@ proto/exposition/family_names.h
}

void UseText(std::string& labels, const mailbox::VmInfo& vm) {
  //@ proto/exposition/text.h
}

}  // namespace
}  // namespace sideband
