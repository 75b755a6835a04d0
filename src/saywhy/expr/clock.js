// Time and chance of one evaluation, and the look at the clock that loops take.
(function () {
  "use strict";

  const { imul } = Math;
  // The engine looks at the clock after ten thousand calls or turns of a loop, however long each
  // takes. Loops and functions of an expression call this now and then: every 20 ms it spends ten
  // thousand turns on nothing.
  const clock = Date.now;

  function tick(next) {
    const at = clock();
    if (next === 0) return at + 20;
    if (at < next) return next;
    for (let i = 0; i < 10500; i++);
    return clock() + 20;
  }

  let now = NaN;
  let seed = 0;

  function begin(moment, number) {
    now = moment;
    seed = number >>> 0;
  }

  function end() {
    now = NaN;
    seed = 0;
  }

  function half() {
    seed = (seed + 0x6d2b79f5) | 0;
    let bits = imul(seed ^ (seed >>> 15), 1 | seed);
    bits = (bits + imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return (bits ^ (bits >>> 14)) >>> 0;
  }

  function random() {
    return ((half() >>> 5) * 67108864 + (half() >>> 6)) / 9007199254740992;
  }

  return Object.freeze({ begin, end, tick, moment: () => now, random });
})
