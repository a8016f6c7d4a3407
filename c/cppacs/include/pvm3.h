/*
 * PVM for C programs on a simulated CP-PACS. Names, numbers and meanings are those of PVM 3.4, so a program of PVM
 * compiles as it is; the text is our own.
 *
 *     cargo build -p cppacs-c && make -C c/cppacs
 *     cc program.c -o program -I c/cppacs/include target/debug/libpvm3.a
 *     target/debug/cppacs-pvm --nodes 4 ./program
 *
 * One task a node, and one pvm_spawn, by the first task. What is not there returns PvmNotImpl and says so once on
 * standard error. Time is simulated: gettimeofday() and time() show it, and computing takes none but by CPcompute().
 */
#ifndef PVM3_H
#define PVM3_H

#include <sys/time.h>

#define PVM_VER "3.4.6"
#define PVM_MAJOR_VERSION 3
#define PVM_MINOR_VERSION 4
#define PVM_PATCH_VERSION 6

/* pvm_initsend, pvm_mkbuf: all is raw */
#define PvmDataDefault 0
#define PvmDataRaw 1
#define PvmDataInPlace 2
#define PvmDataFoo PvmDataDefault
#define PvmDataTrace 4

/* pvm_spawn */
#define PvmTaskDefault 0
#define PvmTaskHost 1
#define PvmTaskArch 2
#define PvmTaskDebug 4
#define PvmTaskTrace 8
#define PvmMppFront 16
#define PvmHostCompl 32
#define PvmNoSpawnParent 64

/* pvm_notify */
#define PvmTaskExit 1
#define PvmHostDelete 2
#define PvmHostAdd 3
#define PvmRouteAdd 4
#define PvmRouteDelete 5
#define PvmNotifyCancel 256

/* pvm_setopt, pvm_getopt */
#define PvmRoute 1
#define PvmDontRoute 1
#define PvmAllowDirect 2
#define PvmRouteDirect 3
#define PvmDebugMask 2
#define PvmAutoErr 3
#define PvmOutputTid 4
#define PvmOutputCode 5
#define PvmTraceTid 6
#define PvmTraceCode 7
#define PvmTraceBuffer 8
#define PvmTraceOptions 9
#define PvmTraceFull 1
#define PvmTraceTime 2
#define PvmTraceCount 3
#define PvmFragSize 10
#define PvmResvTids 11
#define PvmSelfOutputTid 12
#define PvmSelfOutputCode 13
#define PvmSelfTraceTid 14
#define PvmSelfTraceCode 15
#define PvmSelfTraceBuffer 16
#define PvmSelfTraceOptions 17
#define PvmShowTids 18
#define PvmPollType 19
#define PvmPollConstant 1
#define PvmPollSleep 2
#define PvmPollTime 20
#define PvmOutputContext 21
#define PvmTraceContext 22
#define PvmSelfOutputContext 23
#define PvmSelfTraceContext 24
#define PvmNoReset 25

#define PvmTaskSelf 0
#define PvmTaskChild 1
#define PvmBaseContext 0

/* mailbox */
#define PvmMboxDefault 0
#define PvmMboxPersistent 1
#define PvmMboxMultiInstance 2
#define PvmMboxOverWritable 4
#define PvmMboxFirstAvail 8
#define PvmMboxReadAndDelete 16
#define PvmMboxWaitForInfo 32
#define PVMNORESETCLASS "###_PVM_NO_RESET_###"
#define PVMHOSTERCLASS "###_PVM_HOSTER_###"
#define PVMTASKERCLASS "###_PVM_TASKER_###"
#define PVMTRACERCLASS "###_PVM_TRACER_###"
#define PVMRMCLASS "###_PVM_RM_###"

/* results */
#define PvmOk 0
#define PvmBadParam -2
#define PvmMismatch -3
#define PvmOverflow -4
#define PvmNoData -5
#define PvmNoHost -6
#define PvmNoFile -7
#define PvmDenied -8
#define PvmNoMem -10
#define PvmBadMsg -12
#define PvmSysErr -14
#define PvmNoBuf -15
#define PvmNoSuchBuf -16
#define PvmNullGroup -17
#define PvmDupGroup -18
#define PvmNoGroup -19
#define PvmNotInGroup -20
#define PvmNoInst -21
#define PvmHostFail -22
#define PvmNoParent -23
#define PvmNotImpl -24
#define PvmDSysErr -25
#define PvmBadVersion -26
#define PvmOutOfRes -27
#define PvmDupHost -28
#define PvmCantStart -29
#define PvmAlready -30
#define PvmNoTask -31
#define PvmNotFound -32
#define PvmExists -33
#define PvmHostrNMstr -34
#define PvmParentNotSet -35
#define PvmNoEntry PvmNotFound
#define PvmDupEntry PvmDenied

/* data types of pvm_psend, pvm_precv, pvm_reduce, pvm_gather, pvm_scatter */
#define PVM_STR 0
#define PVM_BYTE 1
#define PVM_SHORT 2
#define PVM_INT 3
#define PVM_FLOAT 4
#define PVM_CPLX 5
#define PVM_DOUBLE 6
#define PVM_DCPLX 7
#define PVM_LONG 8
#define PVM_USHORT 9
#define PVM_UINT 10
#define PVM_ULONG 11

struct pvmhostinfo {
    int hi_tid;
    char *hi_name, *hi_arch;
    int hi_speed, hi_dsig;
};

struct pvmtaskinfo {
    int ti_tid, ti_ptid, ti_host, ti_flag;
    char *ti_a_out;
    int ti_pid;
};

struct pvmminfo {
    int len, ctx, tag, wid, enc, crc, src, dst;
};

struct pvmmboxinfo {
    char *mi_name;
    int mi_nentries, *mi_indices, *mi_owners, *mi_flags;
};

#ifdef __cplusplus
extern "C" {
#endif

/* tasks */
int pvm_mytid(void), pvm_parent(void), pvm_exit(void), pvm_kill(int tid), pvm_pstat(int tid);
int pvm_spawn(char *task, char **argv, int flag, char *where, int ntask, int *tids);
int pvm_siblings(int **tids), pvm_tidtohost(int tid);
int pvm_config(int *nhost, int *narch, struct pvmhostinfo **hosts);
int pvm_tasks(int where, int *ntask, struct pvmtaskinfo **tasks);

/* buffers */
int pvm_initsend(int encoding), pvm_mkbuf(int encoding), pvm_freebuf(int bufid);
int pvm_getsbuf(void), pvm_getrbuf(void), pvm_setsbuf(int bufid), pvm_setrbuf(int bufid);
int pvm_bufinfo(int bufid, int *bytes, int *msgtag, int *tid);

/* `nitem` items, each `stride` behind the one before; an item of cplx and dcplx is two numbers */
int pvm_pkbyte(char *p, int nitem, int stride), pvm_upkbyte(char *p, int nitem, int stride);
int pvm_pkshort(short *p, int nitem, int stride), pvm_upkshort(short *p, int nitem, int stride);
int pvm_pkushort(unsigned short *p, int nitem, int stride), pvm_upkushort(unsigned short *p, int nitem, int stride);
int pvm_pkint(int *p, int nitem, int stride), pvm_upkint(int *p, int nitem, int stride);
int pvm_pkuint(unsigned *p, int nitem, int stride), pvm_upkuint(unsigned *p, int nitem, int stride);
int pvm_pklong(long *p, int nitem, int stride), pvm_upklong(long *p, int nitem, int stride);
int pvm_pkulong(unsigned long *p, int nitem, int stride), pvm_upkulong(unsigned long *p, int nitem, int stride);
int pvm_pkfloat(float *p, int nitem, int stride), pvm_upkfloat(float *p, int nitem, int stride);
int pvm_pkdouble(double *p, int nitem, int stride), pvm_upkdouble(double *p, int nitem, int stride);
int pvm_pkcplx(float *p, int nitem, int stride), pvm_upkcplx(float *p, int nitem, int stride);
int pvm_pkdcplx(double *p, int nitem, int stride), pvm_upkdcplx(double *p, int nitem, int stride);
int pvm_pkstr(char *s), pvm_upkstr(char *s);
int pvm_packf(const char *format, ...), pvm_unpackf(const char *format, ...);

/* messages; -1 as tid or msgtag of a receive: any */
int pvm_send(int tid, int msgtag), pvm_mcast(int *tids, int ntask, int msgtag);
int pvm_psend(int tid, int msgtag, void *p, int count, int type);
int pvm_recv(int tid, int msgtag), pvm_nrecv(int tid, int msgtag), pvm_probe(int tid, int msgtag);
int pvm_trecv(int tid, int msgtag, struct timeval *wait);
int pvm_precv(int tid, int msgtag, void *p, int count, int type, int *from, int *tag, int *length);

/* groups */
int pvm_joingroup(char *group), pvm_lvgroup(char *group), pvm_gsize(char *group);
int pvm_freezegroup(char *group, int size);
int pvm_gettid(char *group, int instance), pvm_getinst(char *group, int tid), pvm_barrier(char *group, int count);
int pvm_bcast(char *group, int msgtag);
int pvm_reduce(void (*combine)(int *type, void *into, void *data, int *count, int *info), void *data, int count,
               int type, int msgtag, char *group, int root);
int pvm_gather(void *result, void *data, int count, int type, int msgtag, char *group, int root);
int pvm_scatter(void *result, void *data, int count, int type, int msgtag, char *group, int root);
void PvmMax(int *type, void *into, void *data, int *count, int *info);
void PvmMin(int *type, void *into, void *data, int *count, int *info);
void PvmSum(int *type, void *into, void *data, int *count, int *info);
void PvmProduct(int *type, void *into, void *data, int *count, int *info);

/* the rest */
int pvm_perror(char *text), pvm_setopt(int what, int value), pvm_getopt(int what), pvm_archcode(char *arch);
int pvm_getcontext(void);
char *pvm_version(void), *pvm_strerror(int error);
#ifdef EOF
int pvm_catchout(FILE *to);
#endif

/* Computes for so long in simulated time; no part of PVM. */
int CPcompute(double us);

/* PvmNotImpl, each of them */
int pvm_addhosts(char **hosts, int nhost, int *infos), pvm_delhosts(char **hosts, int nhost, int *infos);
int pvm_halt(void), pvm_start_pvmd(int argc, char **argv, int block), pvm_mstat(char *host);
int pvm_hostsync(int host, struct timeval *clock, struct timeval *delta);
int (*pvm_recvf(int (*match)(int, int, int)))(int, int, int);
int pvm_addmhf(int src, int tag, int context, int (*handler)(int)), pvm_delmhf(int id);
int pvm_newcontext(void), pvm_setcontext(int context), pvm_freecontext(int context);
int pvm_putinfo(char *name, int bufid, int flags), pvm_recvinfo(char *name, int index, int flags);
int pvm_delinfo(char *name, int index, int flags);
int pvm_getmboxinfo(char *pattern, int *nclass, struct pvmmboxinfo **classes);
int pvm_insert(char *name, int index, int data), pvm_lookup(char *name, int index, int *data);
int pvm_delete(char *name, int index), pvm_notify(int what, int msgtag, int count, int *tids);
int pvm_sendsig(int tid, int signal), pvm_export(char *name), pvm_unexport(char *name), pvm_getfds(int **fds);
int pvm_getminfo(int bufid, struct pvmminfo *info), pvm_setminfo(int bufid, struct pvmminfo *info);
int pvm_getmwid(int bufid), pvm_setmwid(int bufid, int wid), pvm_getnoresets(int **tids, int *count);
int pvm_pkmesg(int bufid), pvm_pkmesgbody(int bufid), pvm_upkmesg(void);
int pvm_reg_hoster(void), pvm_reg_rm(struct pvmhostinfo **hosts), pvm_reg_tasker(void);
int pvm_reg_tracer(int tctx, int ttag, int octx, int otag, char *mask, int bufsize, int options);
int pvm_tickle(int narg, int *args, int *nresult, int *results);
int pvm_gettmask(int who, char *mask), pvm_settmask(int who, char *mask);

#ifdef __cplusplus
}
#endif

#endif
