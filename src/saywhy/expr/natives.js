// Functions of the engine that may take milliseconds on what is large, and look at no clock. What
// they take is added up here: as callbacks of a list (`list.forEach(Object.keys)`) they would be
// called ten thousand times before the engine looks.
(function () {
  "use strict";

  const { apply, construct, ownKeys } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
  const clock = Date.now;
  const STEP = 20;  // milliseconds
  let spent = 0;

  function spend(milliseconds) {
    spent += milliseconds;
    if (spent < STEP) return;
    spent = 0;
    for (let i = 0; i < 10500; i++);  // the engine looks after ten thousand turns of a loop
  }

  function watch(owner, names) {
    for (const name of names) {
      const own = getOwnPropertyDescriptor(owner, name);
      const native = own.value;
      const value = {
        [name](...args) {
          const began = clock();
          const result = apply(native, this, args);
          const took = clock() - began;
          if (took > 0) spend(took);
          return result;
        },
      }[name];
      defineProperty(value, "length", { value: native.length, configurable: true });
      defineProperty(owner, name, { ...own, value });
    }
  }

  watch(globalThis, [
    "parseInt", "parseFloat", "isNaN", "isFinite", "encodeURI", "encodeURIComponent", "decodeURI",
    "decodeURIComponent", "escape", "unescape", "btoa", "atob",
  ]);
  watch(JSON, ["parse", "stringify"]);
  watch(Object, [
    "keys", "values", "entries", "fromEntries", "getOwnPropertyNames", "getOwnPropertyDescriptors",
    "getOwnPropertySymbols", "freeze", "seal", "isFrozen", "isSealed", "assign", "defineProperties",
    "create", "groupBy", "hasOwn",
  ]);
  watch(Object.prototype, ["hasOwnProperty", "propertyIsEnumerable", "isPrototypeOf"]);
  watch(Map, ["groupBy"]);
  watch(String.prototype, [
    "trim", "trimStart", "trimEnd", "isWellFormed", "toWellFormed", "concat", "slice", "substring",
    "substr", "startsWith", "endsWith",
  ]);
  const search = Array.prototype.includes;  // without a clock, for `repeats`
  watch(Array.prototype, ["indexOf", "includes", "lastIndexOf", "concat", "slice"]);

  const lists = getPrototypeOf(Int8Array.prototype);
  const methods = ownKeys(lists).filter(
    (name) => name !== "constructor" && typeof getOwnPropertyDescriptor(lists, name).value === "function");
  watch(lists, methods);

  // They find a text by all of its characters.
  for (const [owner, names] of [
    [Map.prototype, ["get", "set", "has", "delete"]],
    [Set.prototype, ["add", "has", "delete"]],
  ]) {
    for (const name of names) {
      const native = owner[name];
      const timed = {
        [name](key, value) {
          if (typeof key !== "string" || key.length < 1000) return native.call(this, key, value);
          const began = clock();
          const found = native.call(this, key, value);
          spend(clock() - began);
          return found;
        },
      }[name];
      defineProperty(timed, "length", { value: native.length, configurable: true });
      defineProperty(owner, name, { ...getOwnPropertyDescriptor(owner, name), value: timed });
    }
  }

  // Called for every other answer of a user's, so that the clock is read for long texts only.
  const Number0 = Number;

  function numberOf(text) {
    const began = clock();
    const number = Number0(text);
    spend(clock() - began);
    return number;
  }

  const stub = {
    Number: function (...args) {
      if (new.target === undefined) {
        const value = args[0];
        if (typeof value === "string" && value.length > 1000) return numberOf(value);
        return args.length > 0 ? Number0(value) : 0;
      }
      return construct(Number0, args, new.target === stub ? Number0 : new.target);
    },
  }.Number;
  for (const name of ["parseInt", "parseFloat"]) {
    defineProperty(Number0, name, getOwnPropertyDescriptor(globalThis, name));
  }
  for (const name of ownKeys(Number0)) {
    if (name !== "length" && name !== "name") {
      defineProperty(stub, name, getOwnPropertyDescriptor(Number0, name));
    }
  }
  setPrototypeOf(stub, getPrototypeOf(Number0));
  defineProperty(stub, "length", { value: 1, configurable: true });
  for (const [owner, name] of [[Number0.prototype, "constructor"], [globalThis, "Number"]]) {
    defineProperty(owner, name, { ...getOwnPropertyDescriptor(owner, name), value: stub });
  }

  return search;
})
