// The parts of a scenario that belong to one link or one router.
#ifndef ASSAY_TESTS_PATHSIM_SCENARIO_LINK_READER_H_
#define ASSAY_TESTS_PATHSIM_SCENARIO_LINK_READER_H_

#include "core/document/yaml.h"
#include "tests/pathsim/scenario/fields.h"
#include "tests/pathsim/scenario/scenario.h"

namespace assay::pathsim {

void ReadLink(const document::YamlNode& node, LinkSettings& link, Reading& reading);
void ReadAnswers(const document::YamlNode& node, AnswerSettings& answers, Reading& reading);

// A scalar or a list of scalars: `each` is called for every one.
template <typename Each>
void ForEachItem(const document::YamlNode& node, const Each& each) {
  if (node.kind != document::YamlNode::Kind::kList) return each(node);
  for (const document::YamlPtr& item : node.items) each(*item);
}

}  // namespace assay::pathsim

#endif  // ASSAY_TESTS_PATHSIM_SCENARIO_LINK_READER_H_
