// Functions of Math that the engine takes from the C library, where that is off by a digit people
// would see.
(function () {
  "use strict";

  const { cbrt, round } = Math;

  Object.defineProperty(Math, "cbrt", {
    value: {
      cbrt(value) {
        const number = +value;
        const root = cbrt(number);
        const whole = round(root);
        return whole * whole * whole === number ? whole : root;
      },
    }.cbrt,
  });
})
