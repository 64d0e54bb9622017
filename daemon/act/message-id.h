/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MESSAGE_ID= of the journal's messages, one per kind of decision: an interface, never to be
 * changed or used again for something else. `journalctl MESSAGE_ID=...` finds them.
 */
#ifndef FSTUNED_ACT_MESSAGE_ID_H
#define FSTUNED_ACT_MESSAGE_ID_H

/* a knob was turned on because of stalls (REASON_STALL, REASON_LONG_WAIT) */
#define MESSAGE_ID_ON "95be145c1ca64d649049aede7bb8e656"
/* another value for a while, to see whether that is better (force_copy: off) */
#define MESSAGE_ID_TRIAL "a853910037f640078b77923573ab1059"
/* it is not: back */
#define MESSAGE_ID_TRIAL_FAILED "d95f609f23584d588e4461e9bbb143c9"
/* it is: kept */
#define MESSAGE_ID_TRIAL_KEPT "74060ff9c82143b49052e679a6cfea6b"
/* back, since the load changed during the trial, which says nothing */
#define MESSAGE_ID_TRIAL_VOID "78131a29d77c4188a0a7c8b49ffa9d05"
/* turned off for memory pressure */
#define MESSAGE_ID_MEMORY "d98f41510f11407f8c132aafdbddc3b2"
/* too many changes: hands off for a while */
#define MESSAGE_ID_FROZEN "92524893ee324ec59da48cd0d9eb0548"
/* a value that the configuration wants */
#define MESSAGE_ID_CONFIGURED "30223242ca4d4ddfa7fea5d829787002"
/* fstunectl set, auto, revert */
#define MESSAGE_ID_ADMINISTRATOR "e23990654f3a44cb836a7db5e53c7e30"
/* somebody else wrote the knob */
#define MESSAGE_ID_FOREIGN "50858721f7684778b4d647f305549b11"
/* found as a former run had left it */
#define MESSAGE_ID_ADOPTED "6dc1a26b62024ccca4ba62eaf6f4e0e0"
/* given back at stop */
#define MESSAGE_ID_RESTORED "c02f45298c1845f6ab20f06e7bec6d75"
/* observe mode: what auto would do */
#define MESSAGE_ID_ADVICE "69a937528acd4892b445e54d5ee9b758"
/* a change could not be carried out */
#define MESSAGE_ID_FAILED "2790b862773b45a3a39a61bcfb29401a"
/* a write to a knob does not return */
#define MESSAGE_ID_STUCK "98f2e81852944bd2b54a5bd93f24045b"

#endif
