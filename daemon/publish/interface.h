/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The D-Bus interface as both sides see it. All that client and daemon share besides base.
 *
 * Object /org/fstuned1, interface org.fstuned1.Manager. A `device` argument is a kernel name,
 * "M:N", "UUID=...", "LABEL=..."; the client turns paths into M:N. Returned documents are
 * JSON with the unit in the name of each number.
 *
 *   Describe(s device) -> s          status; device "" for all
 *   ListDevices() -> as              kernel names
 *   Get(s device, s knob) -> s       knob "" for all
 *   Set(s device, s knob, s value)   pin; returns when it is done
 *   Auto(s device, s knob)           knob "" for all
 *   Revert(s device)                 device "" for all
 *   Pause(t usec)                    0: until Resume
 *   Resume()
 *   Explain(s device) -> s           where the time goes, what would help
 *   History(s device, t since_usec) -> s    CLOCK_REALTIME; "" and 0 for all
 *   Config() -> s
 *   Reload()                         read the configuration anew
 *   Metrics(b openmetrics) -> s      text
 *   Doctor() -> s
 *   Verify() -> s
 *
 * Errors are those below, with one line for people.
 */
#ifndef FSTUNED_PUBLISH_INTERFACE_H
#define FSTUNED_PUBLISH_INTERFACE_H

#define FSTUNED_BUS_NAME "org.fstuned1"
#define FSTUNED_BUS_PATH "/org/fstuned1"
#define FSTUNED_BUS_INTERFACE "org.fstuned1.Manager"

#define FSTUNED_ERROR_NO_DEVICE "org.fstuned1.Error.NoSuchDevice"
#define FSTUNED_ERROR_NO_KNOB "org.fstuned1.Error.NoSuchKnob"
#define FSTUNED_ERROR_UNSUPPORTED "org.fstuned1.Error.Unsupported"
#define FSTUNED_ERROR_BAD_VALUE "org.fstuned1.Error.BadValue"
#define FSTUNED_ERROR_BUSY "org.fstuned1.Error.Busy"
#define FSTUNED_ERROR_FAILED "org.fstuned1.Error.Failed"

#define FSTUNED_RUNTIME_DIR "/run/fs-tuned"
#define FSTUNED_SOCKET "bus" /* in the runtime directory */

/* fstunectl's exit codes. */
enum {
	FSTUNED_EXIT_OK = 0,
	FSTUNED_EXIT_FAILED = 1,
	FSTUNED_EXIT_USAGE = 2,
	FSTUNED_EXIT_NOT_RUNNING = 3,
	FSTUNED_EXIT_PERMISSION = 4,
	FSTUNED_EXIT_DIFFERS = 5, /* verify */
};

#endif
