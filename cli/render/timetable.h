// What a plan would do and when, before it does.
#ifndef ASSAY_CLI_RENDER_TIMETABLE_H_
#define ASSAY_CLI_RENDER_TIMETABLE_H_

#include <cstddef>
#include <string>

#include "assay/v1/model.pb.h"
#include "cli/render/view.h"
#include "core/schedule/timetable.h"

namespace assay::render {

// The tasks by due time, at most `most` of them in a table (0: all), then how many each window has
// on each day. `seed_is_drawn`: the jitter shown is one of many.
std::string Timetable(const v1::Plan& plan, const schedule::Timetable& timetable, size_t most,
                      bool seed_is_drawn, const View& view);

}  // namespace assay::render

#endif  // ASSAY_CLI_RENDER_TIMETABLE_H_
