// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "proto/exposition/family_names.h"
#include "proto/exposition/row_families.h"
#include "proto/exposition/text.h"
#include "proto/mailbox/catalog.h"

namespace sideband {
namespace {

void UseFamilyNames(const mailbox::Catalog& catalog, size_t event) {
  //@ proto/exposition/family_names.h
}

void UseRowFamilies(const mailbox::EventInfo& event, const std::string& name, std::string& out) {
  //@ proto/exposition/row_families.h
}

void UseText(std::string& labels, const mailbox::VmInfo& vm) {
  //@ proto/exposition/text.h
}

}  // namespace
}  // namespace sideband
