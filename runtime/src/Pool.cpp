//===- Pool.cpp - The default workers of a session ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work stealing without locks. The compiled code of a model is a sequence of short parallel loops. Every loop must
// start and end fast, its workers must find in their caches what they touched in the loop before, and a CPU that the
// system has given to another program must not hold up the loop.
//
// The loop [0, n) is cut into one contiguous share for each worker, and each share into up to 16 chunks. All boundaries
// but the end n are multiples of `grain`. Share w belongs to worker w in loop after loop, so a worker touches the same
// rows or columns again. A worker takes the chunks of its own share from the front to the back, then steals chunks of
// the following shares; share 0 follows the last one:
//
//   n = 1000, grain = 8: 125 units of 8 iterations, 4 workers; a chunk is 2 units, the last one of shares 1 to 3 is 1 unit
//
//              share 0              share 1              share 2              share 3
//   iteration  0               256  256             504  504             752  752            1000
//   chunk      |0|1|2|3| ... |15|   |0|1|2|3| ... |15|   |0|1|2|3| ... |15|   |0|1|2|3| ... |15|
//   state               7 : 0                7 : 12               7 : 1                7 : 0          generation : chunks left
//
//   Worker 1 has taken chunks 0 to 3 of its share. Worker 3 has found shares 3 and 0 empty and takes chunk 4 of share 1 next.
//
// The number of the next chunk of a share is (chunks of the share - chunks left), so a share needs one word:
// Share::state is generation << 32 | chunks left. A worker loads the word, reads the fields of the job (body, n, grain,
// ...) and takes the chunk by a compare-and-swap of state to state - 1. If the swap succeeds, a chunk of that
// generation was open from the load to the swap. So the job of that generation was not over in between, and the worker
// has read the fields of this job, although the caller writes the fields of the next job without a lock. If the job has
// ended before the swap, the generation differs and the swap fails, even if the share again has the same number of
// chunks left: the generation rules out the ABA problem (unless a worker sleeps between load and swap for exactly 2^32
// loops). The fields are relaxed atomics, because a worker that is late may read them while the caller writes them; its
// swap then fails, and it discards the values.
//
// Invariants. Within a generation the state of a share only decreases, by 1 for each chunk that a worker takes and
// runs. `open` counts the chunks that are not finished; the caller returns when it is 0, so no chunk of an old job runs
// when a new job begins. The caller waits for chunks and not for workers: a worker without a CPU delays the loop by the
// chunk that it has begun, if any, because the others take the rest of its share. The number of a worker only selects
// its scratch memory, so results do not depend on which worker runs a chunk.
//
// Cost. A compare-and-swap and a decrement of `open` for each chunk; for each loop, one store per share and, for each
// sleeping worker whose share has work, one system call.
//
// Concurrent sessions share the CPUs: while several calls are under way in the process, a loop is cut into shares for
// at most (CPUs / calls) workers, at least 1. Of the other workers, those that sleep are not woken, and those that
// still spin steal chunks. Results do not depend on the number of shares.
//
// Waiting. Threads spin for 100 us, if each has a CPU of its own, then sleep on a futex. The caller sleeps on `open`.
// Each worker sleeps on its own Share::parked, so that only workers whose share has work are woken, each by one system
// call, however many loops pass before it gets a CPU.
//===----------------------------------------------------------------------===//

#include "Pool.h"
#include "Error.h"
#include "FpEnvironment.h"
#include "Waiting.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

using namespace attune;

/// The most chunks of a share: enough to even out workers of unequal speed, few enough to keep ranges long.
/// docs/measurements.md compares this number with others.
static constexpr int64_t chunksPerShare = 16;
/// The time that a thread with a CPU of its own spins before it sleeps.
static constexpr int64_t spinNanoseconds = 100000;
/// The number of calls under way in this process that PoolCallScope counts.
static std::atomic<int64_t> activeCalls{0};

namespace {

/// One parallel loop.
struct Job {
  attune_body_fn body;
  void *ctx;
  int64_t n, grain;
  int64_t workers; // the first |workers| workers of the pool get a share each

  int64_t units() const { return n / grain + (n % grain != 0); }
  /// shareUnits returns the number of units in the share of worker |w|, shareBegin the number of its first unit. A unit
  /// is |grain| iterations; the last unit of the loop may have fewer.
  int64_t shareUnits(int64_t w) const { return w < workers ? units() / workers + (w < units() % workers) : 0; }
  int64_t shareBegin(int64_t w) const {
    int64_t rest = units() % workers;
    return units() / workers * w + (w < rest ? w : rest);
  }
  int64_t chunkUnits(int64_t w) const { return (shareUnits(w) + chunksPerShare - 1) / chunksPerShare; }
  /// Returns the number of chunks in the share of worker |w|.
  uint32_t chunks(int64_t w) const { return shareUnits(w) ? (shareUnits(w) - 1) / chunkUnits(w) + 1 : 0; }
  /// Runs chunk |chunk| of the share of worker |w|, as worker |me|.
  void run(int64_t w, uint32_t chunk, int64_t me) const {
    int64_t first = chunk * chunkUnits(w), count = shareUnits(w) - first;
    count = count < chunkUnits(w) ? count : chunkUnits(w);
    int64_t begin = (shareBegin(w) + first) * grain;
    // The last unit may be shorter than |grain|. begin + count * grain could overflow, n - begin cannot.
    int64_t end = n - begin <= count * grain ? n : begin + count * grain;
    body(ctx, me, begin, end);
  }
};

/// The contiguous part of a loop that belongs to one worker, on a cache line of its own.
struct alignas(ATTUNE_ALIGNMENT) Share {
  std::atomic<uint64_t> state;
  std::atomic<uint32_t> parked; // 1 while the owner sleeps or is about to; set to 0 by the thread that wakes the owner
};

/// A worker thread.
struct Thread {
  attune_pool *pool;
  int64_t worker;
  pthread_t handle;
};

} // namespace

/// The pool. Arrays of |workers| Share and |workers| Thread follow it in memory. Thread 0 is unused: worker 0 is the
/// calling thread.
struct alignas(ATTUNE_ALIGNMENT) attune_pool {
  // The job, written by the calling thread before each loop and read by all workers. |sharers| is Job::workers.
  std::atomic<attune_body_fn> body;
  std::atomic<void *> ctx;
  std::atomic<int64_t> n, grain, sharers;
  int64_t workers;
  int64_t cpus;    // CPUs available when the pool was made
  int64_t started; // running threads, the caller's included
  int64_t spin;    // nanoseconds; 0: threads sleep at once
  bool inJob;
  std::atomic<bool> stop;
  alignas(ATTUNE_ALIGNMENT) std::atomic<uint32_t> generation;
  alignas(ATTUNE_ALIGNMENT) std::atomic<uint32_t> open; // chunks not finished
  std::atomic<uint32_t> callerParked;

  Share *shares() { return reinterpret_cast<Share *>(this + 1); }
  Thread *threads() { return reinterpret_cast<Thread *>(shares() + workers); }
  Job job() const {
    return {body.load(std::memory_order_relaxed), ctx.load(std::memory_order_relaxed), n.load(std::memory_order_relaxed),
            grain.load(std::memory_order_relaxed), sharers.load(std::memory_order_relaxed)};
  }
};

/// Takes and runs chunks of the share of worker |w|, as worker |me|, until none is left.
static void drainShare(attune_pool &pool, int64_t w, int64_t me) {
  std::atomic<uint64_t> &state = pool.shares()[w].state;
  uint64_t seen = state.load(std::memory_order_acquire);
  while (uint32_t left = static_cast<uint32_t>(seen)) {
    Job job = pool.job();
    if (!state.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    job.run(w, job.chunks(w) - left, me);
    if (pool.open.fetch_sub(1) == 1 && pool.callerParked.load())
      futexWake(pool.open);
    seen = state.load(std::memory_order_acquire);
  }
}

/// Runs chunks of all shares as worker |me|: of its own share first, then of the following ones.
static void work(attune_pool &pool, int64_t me) {
  for (int64_t i = 0, w = me; i < pool.workers; ++i) {
    drainShare(pool, w, me);
    w = w + 1 < pool.workers ? w + 1 : 0;
  }
}

/// Runs loops as a worker thread until the pool ends.
static void *workerMain(void *argument) {
  Thread &self = *static_cast<Thread *>(argument);
  attune_pool &pool = *self.pool;
  resetFpEnvironment();
  for (uint32_t seen = 0;;) {
    auto changed = [&] { return pool.generation.load(std::memory_order_acquire) != seen; };
    if (!spinFor(pool.spin, changed)) {
      std::atomic<uint32_t> &parked = pool.shares()[self.worker].parked;
      parked.store(1);
      if (pool.generation.load() != seen)
        parked.store(0); // a loop began meanwhile, and its caller may not have seen |parked|
      while (parked.load())
        futexWait(parked, 1);
    }
    seen = pool.generation.load(std::memory_order_acquire);
    if (pool.stop.load(std::memory_order_acquire))
      return nullptr;
    work(pool, self.worker);
  }
}

/// Publishes a new generation and wakes the sleeping ones among the first |count| workers.
static void announce(attune_pool &pool, int64_t count) {
  pool.generation.fetch_add(1);
  for (int64_t w = 1; w < count; ++w) {
    std::atomic<uint32_t> &parked = pool.shares()[w].parked;
    if (parked.load() && parked.exchange(0))
      futexWake(parked);
  }
}

/// Returns the worker number of the calling thread in |pool|, 0 for a thread that the pool has not started.
static int64_t currentWorker(attune_pool &pool) {
  for (int64_t w = 1; w < pool.workers; ++w)
    if (pthread_equal(pool.threads()[w].handle, pthread_self()))
      return w;
  return 0;
}

/// Returns the number of workers that share the next loop.
static int64_t countSharers(const attune_pool &pool) {
  int64_t calls = activeCalls.load(std::memory_order_relaxed);
  if (calls <= 1)
    return pool.workers;
  int64_t each = pool.cpus > calls ? pool.cpus / calls : 1;
  return each < pool.workers ? each : pool.workers;
}

/// Runs |job| on |pool|, the calling thread as worker 0, and returns when all chunks are finished.
static void share(attune_pool &pool, const Job &job) {
  pool.body.store(job.body, std::memory_order_relaxed);
  pool.ctx.store(job.ctx, std::memory_order_relaxed);
  pool.n.store(job.n, std::memory_order_relaxed);
  pool.grain.store(job.grain, std::memory_order_relaxed);
  pool.sharers.store(job.workers, std::memory_order_relaxed);
  uint32_t open = 0;
  for (int64_t w = 0; w < pool.workers; ++w)
    open += job.chunks(w);
  pool.open.store(open, std::memory_order_relaxed);
  uint64_t generation = pool.generation.load(std::memory_order_relaxed) + uint64_t(1);
  for (int64_t w = 0; w < pool.workers; ++w)
    pool.shares()[w].state.store(generation << 32 | job.chunks(w), std::memory_order_release);
  // With fewer units than workers, only the first shares have work.
  announce(pool, job.units() < job.workers ? job.units() : job.workers);
  work(pool, 0);
  if (!spinFor(pool.spin, [&] { return pool.open.load(std::memory_order_acquire) == 0; })) {
    pool.callerParked.store(1);
    while (uint32_t left = pool.open.load())
      futexWait(pool.open, left);
    pool.callerParked.store(0);
  }
}

void attune_pool_parallel_for(void *opaque, int64_t n, int64_t grain, attune_body_fn body, void *ctx) {
  attune_pool &pool = *static_cast<attune_pool *>(opaque);
  if (n <= 0)
    return;
  grain = grain < 1 ? 1 : grain < n ? grain : n;
  if (pool.inJob)
    return body(ctx, currentWorker(pool), 0, n);
  pool.inJob = true;
  int64_t sharers = countSharers(pool);
  if (sharers == 1 || grain == n)
    body(ctx, 0, 0, n);
  else
    share(pool, {body, ctx, n, grain, sharers});
  pool.inJob = false;
}

PoolCallScope::PoolCallScope(const attune_pool *pool) : calls(pool ? 1 : 0) { activeCalls.fetch_add(calls, std::memory_order_relaxed); }
PoolCallScope::~PoolCallScope() { activeCalls.fetch_sub(calls, std::memory_order_relaxed); }

attune_status attune::chooseWorkers(int64_t threads, int64_t &workers) {
  if (threads < 0 || threads > ATTUNE_MAX_THREADS)
    return fail(ATTUNE_INVALID_ARGUMENT, "num_threads is %lld, 0 to %lld expected", static_cast<long long>(threads),
                static_cast<long long>(ATTUNE_MAX_THREADS));
  workers = threads ? threads : attune_available_cpus();
  workers = workers < ATTUNE_MAX_THREADS ? workers : ATTUNE_MAX_THREADS;
  return ATTUNE_OK;
}

size_t attune::getPoolBytes(int64_t workers) { return sizeof(attune_pool) + workers * (sizeof(Share) + sizeof(Thread)); }

attune_status attune::createPool(void *memory, int64_t workers, attune_pool *&out, int64_t sharing) {
  memset(memory, 0, getPoolBytes(workers));
  attune_pool *pool = new (memory) attune_pool();
  pool->workers = workers;
  // Spinning pays only while every worker has a CPU of its own.
  pool->cpus = attune_available_cpus();
  pool->spin = workers * (sharing > 1 ? sharing : 1) <= pool->cpus ? spinNanoseconds : 0;
  for (int64_t w = 0; w < workers; ++w)
    new (&pool->shares()[w]) Share();
  // Workers block all signals, so that the program's own threads handle them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  for (pool->started = 1; pool->started < workers && !error; pool->started += !error) {
    Thread &thread = pool->threads()[pool->started];
    thread.pool = pool;
    thread.worker = pool->started;
    error = pthread_create(&thread.handle, nullptr, workerMain, &thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error) {
    long long missing = pool->started;
    endPool(pool);
    return fail(ATTUNE_OUT_OF_MEMORY, "cannot start worker %lld of %lld: %s", missing, static_cast<long long>(workers), strerror(error));
  }
  out = pool;
  return ATTUNE_OK;
}

void attune::endPool(attune_pool *pool) {
  pool->stop.store(true, std::memory_order_release);
  announce(*pool, pool->started);
  for (int64_t w = 1; w < pool->started; ++w)
    pthread_join(pool->threads()[w].handle, nullptr);
}

attune_status attune_pool_create(int64_t num_threads, attune_pool **out_pool) {
  if (!out_pool)
    return fail(ATTUNE_INVALID_ARGUMENT, "out_pool is null");
  *out_pool = nullptr;
  int64_t workers;
  ATTUNE_TRY(chooseWorkers(num_threads, workers));
  size_t bytes = (getPoolBytes(workers) + ATTUNE_ALIGNMENT - 1) / ATTUNE_ALIGNMENT * ATTUNE_ALIGNMENT;
  void *memory = aligned_alloc(ATTUNE_ALIGNMENT, bytes);
  if (!memory)
    return fail(ATTUNE_OUT_OF_MEMORY, "no memory for a pool of %lld workers", static_cast<long long>(workers));
  attune_status status = createPool(memory, workers, *out_pool);
  if (status != ATTUNE_OK)
    free(memory);
  return status;
}

void attune_pool_destroy(attune_pool *pool) {
  if (pool)
    endPool(pool);
  free(pool);
}

int64_t attune_pool_num_threads(const attune_pool *pool) { return pool ? pool->workers : 0; }

int64_t attune_available_cpus(void) {
  // Room for 8192 CPUs: the system refuses a mask that is smaller than its own.
  cpu_set_t sets[8];
  memset(sets, 0, sizeof(sets));
  if (sched_getaffinity(0, sizeof(sets), sets) == 0) {
    int count = CPU_COUNT_S(sizeof(sets), sets);
    if (count > 0)
      return count;
  }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? online : 1;
}
