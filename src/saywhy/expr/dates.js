// Time as an expression sees it: pinned for each evaluation, and in UTC wherever it runs, so that a
// conversation goes the same way on every machine and when it is replayed.
(function (moment, random) {
  "use strict";

  const { apply, construct, ownKeys } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
  const Date0 = Date;
  const String0 = String;
  const parse0 = Date0.parse;
  const test0 = RegExp.prototype.test;
  const D = Date0.prototype;

  function replace(owner, name, value) {
    const own = getOwnPropertyDescriptor(owner, name);
    defineProperty(value, "length", { value: own.value.length, configurable: true });
    defineProperty(owner, name, { ...own, value });
  }

  // The engine says NaN for a part that is none, and leaves the date as it was.
  const setTime = D.setTime;
  function setter(name, native) {
    return {
      [name](...args) {
        const at = apply(native, this, args);
        return at === at ? at : apply(setTime, this, [NaN]);
      },
    }[name];
  }

  for (const part of [
    "FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds",
  ]) {
    const get = D[`getUTC${part}`];
    const name = `get${part}`;
    replace(D, name, { [name](...args) { return apply(get, this, args); } }[name]);
    const set = D[`setUTC${part}`];
    if (set === undefined) continue;
    replace(D, `set${part}`, setter(`set${part}`, set));
    replace(D, `setUTC${part}`, setter(`setUTC${part}`, set));
  }
  const getTime = D.getTime;
  replace(D, "getTimezoneOffset", {
    getTimezoneOffset() { return apply(getTime, this, []) * 0 + 0; },
  }.getTimezoneOffset);
  replace(D, "getYear", { getYear() { return this.getUTCFullYear() - 1900; } }.getYear);
  replace(D, "setYear", {
    setYear(year) {
      const number = Math.trunc(+year);
      return this.setUTCFullYear(number >= 0 && number <= 99 ? number + 1900 : number);
    },
  }.setYear);

  const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const two = (number) => (number < 10 ? "0" : "") + number;

  function dateText(date) {
    const year = date.getUTCFullYear();
    const digits = (year < 0 ? "-" : "") + String0(Math.abs(year)).padStart(4, "0");
    return `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${two(date.getUTCDate())} ${digits}`;
  }

  function timeText(date) {
    const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(":");
    return `${clock} GMT+0000 (Coordinated Universal Time)`;
  }

  function written(name, write) {
    replace(D, name, {
      [name]() {
        const at = apply(getTime, this, []);
        return at === at ? write(new Date0(at)) : "Invalid Date";
      },
    }[name]);
  }

  written("toString", (date) => `${dateText(date)} ${timeText(date)}`);
  written("toDateString", dateText);
  written("toTimeString", timeText);
  const dateToString = D.toString;

  // A text that names no zone is read in UTC. Dates without a time are so already.
  const isDateOnly = /^\s*[+-]?\d{4,6}(-\d\d){0,2}\s*$/;
  const namesZone = /(Z|UTC?|GMT|[ECMP][SD]T|[+-]\d\d:?\d\d|\))\s*$/i;

  function parse(text) {
    const at = parse0(text);
    if (at !== at || apply(test0, isDateOnly, [text]) || apply(test0, namesZone, [text])) return at;
    const iso = parse0(text + "Z");
    if (iso === iso) return iso;
    const named = parse0(text + " UTC");
    return named === named ? named : at;
  }

  function argumentsOf(args) {
    if (args.length === 0) return [moment()];
    if (args.length > 1) return [apply(Date0.UTC, Date0, args)];
    const only = args[0];
    if (typeof only !== "object" || only === null) return typeof only === "string" ? [parse(only)] : args;
    try {
      return [apply(getTime, only, [])];
    } catch {
      const plain = only[Symbol.toPrimitive] === undefined && typeof only.valueOf() === "object"
        ? String0(only) : only;
      return typeof plain === "string" ? [parse(plain)] : [plain];
    }
  }

  function Clocked(...args) {
    if (new.target === undefined) return apply(dateToString, new Date0(moment()), []);
    return construct(Date0, argumentsOf(args), new.target === Clocked ? Date0 : new.target);
  }
  for (const name of ownKeys(Date0)) {
    const own = getOwnPropertyDescriptor(Date0, name);
    if (name === "name") own.value = "Date";
    defineProperty(Clocked, name, own);
  }
  replace(Clocked, "now", { now: () => moment() }.now);
  replace(Clocked, "parse", { parse: (text) => parse(`${text}`) }.parse);
  setPrototypeOf(Clocked, getPrototypeOf(Date0));
  replace(D, "constructor", Clocked);
  replace(globalThis, "Date", Clocked);
  replace(Math, "random", { random: () => random() }.random);
})
