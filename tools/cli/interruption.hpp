// What happens when the command is told to end.
#pragma once

namespace krylith::tool {

/// SIGINT, SIGTERM and SIGHUP remove the temporary files of what is being written, and then end the
/// process as they do without this. One that the caller had ignored (nohup) stays ignored.
void clean_up_when_interrupted();

} // namespace krylith::tool
