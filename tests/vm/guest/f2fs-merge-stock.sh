#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the stock kernel says to checkpoint_merge: if this fails, the patch has become needless.
. ./lib.sh
. ./f2fs.sh

mount_f2fs || bail_out 'no file system'
refuse 'checkpoint_merge is refused by remount' mount -t f2fs -o remount,checkpoint_merge /dev/vda /mnt
umount /mnt
refuse 'and by mount' mount -t f2fs -o checkpoint_merge /dev/vda /mnt
check 'without, it can be mounted' mount -t f2fs /dev/vda /mnt
refuse 'it has no thread to give a priority' test -e /sys/fs/f2fs/vda/ckpt_thread_ioprio
umount /mnt
done_testing
