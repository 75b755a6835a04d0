// Bounds for what the engine runs without ever asking whether time is up: loops over long lists,
// searches in long texts, large BigInts, regular expressions. Each is kept short enough that the
// next check of the clock is near; `tick` of the kit makes those checks happen.
(function (maxItems, maxSearch) {
  "use strict";

  const { apply, construct } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys, setPrototypeOf } = Object;
  const { ownKeys } = Reflect;
  const { isArray } = Array;
  const isView = ArrayBuffer.isView;
  const RegExp0 = RegExp;
  const BigInt0 = BigInt;
  const RangeError0 = RangeError;
  const TypeError0 = TypeError;

  function replace(owner, name, value) {
    const own = getOwnPropertyDescriptor(owner, name);
    defineProperty(value, "length", { value: own.value.length, configurable: true });
    defineProperty(owner, name, { ...own, value });
  }

  function replaceMaker(owner, name, value) {
    defineProperty(owner, name, { ...getOwnPropertyDescriptor(owner, name), value });
  }

  // The statics, prototype and place of `maker`, given to the function that stands in for it.
  function standIn(stub, maker) {
    for (const name of ownKeys(maker)) {
      if (name !== "length" && name !== "name") {
        defineProperty(stub, name, getOwnPropertyDescriptor(maker, name));
      }
    }
    setPrototypeOf(stub, getPrototypeOf(maker));
    defineProperty(stub, "length", { value: maker.length, configurable: true });
    replaceMaker(maker.prototype, "constructor", stub);
    replaceMaker(globalThis, maker.name, stub);
  }

  // ------------------------------------------------------------------- bounds

  // Loops inside the engine are not interrupted. What makes them long is bounded instead: the
  // length of what they run over, and for searches in texts the product of both lengths.
  function lengthOf(list) {
    if (typeof list !== "object" || list === null || isView(list)) return 0;
    let length;
    if (isArray(list)) {
      length = list.length;
    } else {
      // An accessor could answer differently when the engine asks again.
      const own = getOwnPropertyDescriptor(list, "length");
      if (own === undefined && !("length" in list)) return 0;
      if (own === undefined || !("value" in own) || typeof own.value === "object") {
        throw new TypeError0("a list-like object must have its length as a plain number");
      }
      length = +own.value;
    }
    if (length > maxItems) {
      throw new RangeError0(`a list of ${length} items is too long; ${maxItems} are allowed`);
    }
    return length;
  }

  function check(list) {
    if (lengthOf(list) > LONG) look();
  }

  // What works on this much takes so long that the clock is looked at each time: the engine does so
  // after ten thousand turns of a loop.
  const LONG = 20000;

  function look() {
    for (let i = 0; i < 10500; i++);
  }

  const A = Array.prototype;
  const a = {};
  for (const name of ownKeys(A)) if (typeof A[name] === "function") a[name] = A[name];

  // A list that stands inside itself is no text there, as in every other engine.
  const open = [];
  let depth = 0;

  function joined(list, join) {
    for (let i = 0; i < depth; i++) if (open[i] === list) return "";
    open[depth++] = list;
    try {
      return join();
    } finally {
      open[--depth] = undefined;
    }
  }

  // Written out rather than generated, and without a call where the list is one and short: these
  // are what expressions call most.
  const bounded = {
    map(f, t) { if (!isArray(this) || this.length > LONG) check(this); return a.map.call(this, f, t); },
    filter(f, t) { if (!isArray(this) || this.length > LONG) check(this); return a.filter.call(this, f, t); },
    some(f, t) { if (!isArray(this) || this.length > LONG) check(this); return a.some.call(this, f, t); },
    every(f, t) { if (!isArray(this) || this.length > LONG) check(this); return a.every.call(this, f, t); },
    forEach(f, t) { if (!isArray(this) || this.length > LONG) check(this); return a.forEach.call(this, f, t); },
    flatMap(f, t) { if (!isArray(this) || this.length > LONG) check(this); return a.flatMap.call(this, f, t); },
    join(s) {
      if (!isArray(this) || this.length > LONG) check(this);
      return joined(this, () => a.join.call(this, s));
    },
    slice(i, j) { if (!isArray(this) || this.length > LONG) check(this); return a.slice.call(this, i, j); },
    sort(f) { if (!isArray(this) || this.length > LONG) check(this); return a.sort.call(this, f); },
    reverse() { check(this); return a.reverse.call(this); },
    shift() { check(this); return a.shift.call(this); },
    toLocaleString(l, o) {
      check(this);
      return joined(this, () => a.toLocaleString.call(this, l, o));
    },
    reduce(f, ...start) {
      if (!isArray(this) || this.length > LONG) check(this);
      return start.length > 0 ? a.reduce.call(this, f, start[0]) : a.reduce.call(this, f);
    },
    reduceRight(f, ...start) {
      check(this);
      return start.length > 0 ? a.reduceRight.call(this, f, start[0]) : a.reduceRight.call(this, f);
    },
  };
  for (const name of [
    "copyWithin", "fill", "lastIndexOf", "splice", "toReversed", "toSorted", "toSpliced",
    "unshift", "with",
  ]) {
    bounded[name] = { [name](...args) { check(this); return apply(a[name], this, args); } }[name];
  }

  bounded.concat = function concat(...lists) {
    check(this);
    let total = isArray(this) ? this.length : 1;
    for (let i = 0; i < lists.length; i++) {
      const list = lists[i];
      const isList = isArray(list)
        || (typeof list === "object" && list !== null && list[Symbol.isConcatSpreadable]);
      total += isList ? lengthOf(list) : 1;
    }
    if (total > maxItems) throw new RangeError0(`a list may have ${maxItems} items`);
    if (total > LONG) look();
    return apply(a.concat, this, lists);
  };

  // In JavaScript itself, so that a list that contains itself many times over can be interrupted.
  bounded.flat = function flat(depth) {
    check(this);
    const levels = depth === undefined ? 1 : Math.trunc(+depth) || 0;
    const target = [];
    const into = (list, left) => {
      const length = list.length >>> 0;
      for (let i = 0; i < length; i++) {
        if (!(i in list)) continue;
        const item = list[i];
        if (left > 0 && isArray(item)) {
          check(item);
          into(item, left - 1);
        } else {
          if (target.length >= maxItems) throw new RangeError0(`a list may have ${maxItems} items`);
          target[target.length] = item;
        }
      }
    };
    into(Object(this), levels);
    return target;
  };

  for (const name of ownKeys(bounded)) {
    const method = bounded[name];
    if (a[name] === undefined) continue;
    replace(A, name, method);
  }

  // Writing a list of four thousand million holes takes seconds before memory runs out.
  const stringify0 = JSON.stringify;

  function checkInside(value, depth) {
    if (typeof value !== "object" || value === null || depth > 20) return;
    if (isArray(value)) {
      check(value);
      for (let i = 0; i < value.length && i < 1000; i++) checkInside(value[i], depth + 1);
      return;
    }
    const names = keys(value);
    for (let i = 0; i < names.length && i < 1000; i++) {
      checkInside(getOwnPropertyDescriptor(value, names[i]).value, depth + 1);
    }
  }

  replace(JSON, "stringify", {
    stringify(value, replacer, space) {
      checkInside(value, 0);
      return stringify0(value, replacer, space);
    },
  }.stringify);

  replace(String, "raw", {
    raw(strings, ...values) {
      const parts = Object(strings.raw);
      check(parts);
      let whole = "";
      for (let i = 0; i < parts.length; i++) {
        if (i > 0 && i - 1 < values.length) whole += `${values[i - 1]}`;
        whole += `${parts[i]}`;
      }
      return whole;
    },
  }.raw);

  // ------------------------------------------------------------------- texts

  const S = String.prototype;
  const s = {};
  for (const name of ownKeys(S)) if (typeof S[name] === "function") s[name] = S[name];

  function search(text, part) {
    if (part.length > 1 && text.length * part.length > maxSearch) {
      throw new RangeError0("searching a text this long for another this long takes too much time");
    }
    if (text.length > LONG) look();
  }

  // Both sides become texts once and for all, so that what was measured is what is searched.
  function searching(name) {
    const native = s[name];
    return {
      [name](part, other) {
        let subject = this;
        if (typeof subject !== "string" || typeof part !== "string") {
          if (subject === undefined || subject === null || part instanceof RegExp0) {
            return apply(native, subject, arguments);
          }
          subject = `${subject}`;
          if (part !== undefined || !splits[name]) part = `${part}`;
        }
        if (part !== undefined) search(subject, part);
        return arguments.length > 1 ? native.call(subject, part, other) : native.call(subject, part);
      },
    }[name];
  }

  const splits = { split: true };
  for (const name of ["includes", "indexOf", "lastIndexOf", "split", "replace"]) {
    replace(S, name, searching(name));
  }
  replace(S, "replaceAll", searching("replaceAll"));

  function short(name, text) {
    if (text.length > maxItems) {
      throw new RangeError0(`a text of ${text.length} characters is too long for ${name}`);
    }
    if (text.length > LONG) look();
    return text;
  }

  const upper = S.toUpperCase;
  const lower = S.toLowerCase;
  replace(S, "toUpperCase", {
    toUpperCase() {
      return upper.call(typeof this === "string" ? short("toUpperCase", this) : this);
    },
  }.toUpperCase);
  replace(S, "toLowerCase", {
    toLowerCase() {
      return lower.call(typeof this === "string" ? short("toLowerCase", this) : this);
    },
  }.toLowerCase);
  for (const name of ["toLocaleUpperCase", "toLocaleLowerCase", "split", "replaceAll"]) {
    const native = S[name];
    replace(S, name, {
      [name](...args) {
        return apply(native, typeof this === "string" ? short(name, this) : this, args);
      },
    }[name]);
  }

  const maxText = 4 * maxItems;

  function making(name, lengthOfResult) {
    const native = S[name];
    replace(S, name, {
      [name](...args) {
        if (this === undefined || this === null) return apply(native, this, args);
        const subject = typeof this === "string" ? this : `${this}`;
        const length = lengthOfResult(subject, +args[0]);
        if (length > maxText && length < Infinity) {
          throw new RangeError0(`a text of ${length} characters is too long for ${name}`);
        }
        return apply(native, subject, args);
      },
    }[name]);
  }

  making("repeat", (text, times) => text.length * times);
  making("padStart", (text, length) => length);
  making("padEnd", (text, length) => length);

  // Reordering of combining marks is quadratic, so long texts go through it in pieces that start
  // at letters of ASCII, before which nothing is ever reordered.
  replace(S, "normalize", {
    normalize(form) {
      if (this === undefined || this === null) return s.normalize.call(this, form);
      const subject = `${this}`;
      if (subject.length <= 4096) return arguments.length ? s.normalize.call(subject, form) : s.normalize.call(subject);
      let whole = "";
      for (const piece of subject.match(/[\x00-\x7f]*[^\x00-\x7f]*/g)) {
        if (piece.length > 65536 && /[^\x00-\x7f]{4096}/.test(piece)) {
          throw new RangeError0("the text is too long to be normalized");
        }
        whole += form === undefined ? s.normalize.call(piece) : s.normalize.call(piece, form);
      }
      return whole;
    },
  }.normalize);

  // ------------------------------------------------------------ other makers

  const assign0 = Object.assign;
  replace(Object, "assign", {
    assign(target, ...sources) {
      const made = assign0(target);
      for (let i = 0; i < sources.length; i++) {
        assign0(made, sources[i]);
        if (typeof sources[i] === "string" && sources[i].length > 1000) look();
      }
      return made;
    },
  }.assign);

  for (const name of [
    "ArrayBuffer", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array",
    "Int32Array", "Uint32Array", "BigInt64Array", "BigUint64Array", "Float32Array", "Float64Array",
  ]) {
    const native = globalThis[name];
    const stub = {
      [name]: function (...args) {
        if (new.target === undefined) return apply(native, undefined, args);
        if (+args[0] > maxItems && typeof args[0] === "number") {
          throw new RangeError0(`a list of ${args[0]} items is too long; ${maxItems} are allowed`);
        }
        return construct(native, args, new.target === stub ? native : new.target);
      },
    }[name];
    standIn(stub, native);
  }

  const MAX_DIGITS = 4000;
  const LARGEST = 10n ** BigInt0(MAX_DIGITS);
  const MAX_BITS = 13288n;

  function refuse() {
    throw new RangeError0(`a BigInt of more than ${MAX_DIGITS} digits is too large`);
  }

  function notTooLarge(value) {
    return value > LARGEST || value < -LARGEST ? refuse() : value;
  }

  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
  const { toPrimitive } = Symbol;

  // What an object is as a number: asked once, here, so that its length can be looked at.
  function asNumber(value) {
    const own = value[toPrimitive];
    if (own !== undefined && own !== null) {
      const found = apply(own, value, ["number"]);
      if (!isObject(found)) return found;
    } else {
      for (const name of ["valueOf", "toString"]) {
        const method = value[name];
        const found = typeof method === "function" ? apply(method, value, []) : value;
        if (!isObject(found)) return found;
      }
    }
    throw new TypeError0("the object has no value that could be a number");
  }

  standIn({
    BigInt(value) {
      if (isObject(value)) value = asNumber(value);
      if (typeof value === "string" && value.length > MAX_DIGITS + 10) refuse();
      return BigInt0(value);
    },
  }.BigInt, BigInt0);
  for (const name of ["asIntN", "asUintN"]) {
    const native = BigInt0[name];
    replace(BigInt, name, {
      [name](bits, value) { return native(+bits > Number(MAX_BITS) ? refuse() : bits, value); },
    }[name]);
  }

  // Comparisons, products, powers and shifts in an expression that may have BigInts are compiled
  // into `less` and what stands below it.

  // The sign of a BigInt less a number. The engine itself gets it wrong where the number has a
  // fraction or is below zero.
  function comparedWith(big, number) {
    if (number !== number) return NaN;
    if (number === Infinity || number === -Infinity) return -number;
    const floor = Math.floor(number);
    const near = BigInt0(floor);
    return big < near ? -1 : big > near ? 1 : floor === number ? 0 : -1;
  }

  // Two values as they are compared: as they are, or their difference and zero.
  function compared(one, other, compare) {
    if (isObject(one)) one = asNumber(one);
    if (isObject(other)) other = asNumber(other);
    if (typeof one === "bigint" && typeof other === "number") {
      return compare(comparedWith(one, other), 0);
    }
    if (typeof one === "number" && typeof other === "bigint") {
      return compare(0, comparedWith(other, one));
    }
    return compare(one, other);
  }

  const lessThan = (one, other) => one < other;
  const notMore = (one, other) => one <= other;
  const moreThan = (one, other) => one > other;
  const notLess = (one, other) => one >= other;
  const less = (one, other) => compared(one, other, lessThan);
  const atMost = (one, other) => compared(one, other, notMore);
  const more = (one, other) => compared(one, other, moreThan);
  const atLeast = (one, other) => compared(one, other, notLess);

  function power(one, other) {
    if (typeof one === "bigint" && typeof other === "bigint" && (one > 1n || one < -1n)) {
      const bits = BigInt0(one.toString(16).length - 1) * 4n;
      if (other > MAX_BITS || bits * other > MAX_BITS) refuse();
    }
    const made = one ** other;
    return typeof made === "bigint" ? notTooLarge(made) : made;
  }

  function product(one, other) {
    const made = one * other;
    return typeof made === "bigint" ? notTooLarge(made) : made;
  }

  function shift(one, other) {
    if (typeof one === "bigint" && typeof other === "bigint" && other > MAX_BITS) refuse();
    const made = one << other;
    return typeof made === "bigint" ? notTooLarge(made) : made;
  }

  // ----------------------------------------------------- regular expressions

  const MAX_PATTERN = 10000;
  const MAX_SUBJECT = 20000;
  const exec0 = RegExp0.prototype.exec;
  const test0 = RegExp0.prototype.test;
  const hasReference = /\\[1-9]|\\k</;

  // One step of a back reference compares as much as it refers to, and is not interrupted.
  function careful(pattern) {
    defineProperty(pattern, "exec", {
      value: function exec(subject) {
        const text = `${subject}`;
        if (text.length > MAX_SUBJECT) {
          throw new RangeError0(
            `a text of ${text.length} characters is too long for a pattern with back references`);
        }
        return apply(exec0, this, [text]);
      },
    });
    return pattern;
  }

  function patternText(pattern) {
    const text = `${pattern}`;
    if (text.length > MAX_PATTERN) {
      throw new RangeError0(`a pattern of ${text.length} characters is too long`);
    }
    return text;
  }

  function Pattern(pattern, flags) {
    const isPattern = pattern instanceof RegExp0;
    if (new.target === undefined && isPattern && flags === undefined) return pattern;
    const source = isPattern || pattern === undefined ? pattern : patternText(pattern);
    const target = new.target === undefined || new.target === Pattern ? RegExp0 : new.target;
    const made = construct(RegExp0, [source, flags], target);
    return apply(test0, hasReference, [made.source]) ? careful(made) : made;
  }
  delete RegExp0.prototype.compile;
  defineProperty(Pattern, "name", { value: "RegExp", configurable: true });
  standIn(Pattern, RegExp0);

  for (const [name, flags] of [["match", ""], ["matchAll", "g"], ["search", ""]]) {
    const native = s[name];
    replace(S, name, {
      [name](pattern) {
        const isObject = typeof pattern === "object" || pattern === undefined;
        const made = isObject ? pattern : new Pattern(patternText(pattern), flags);
        return native.call(this, made);
      },
    }[name]);
  }

  const Object0 = Object;
  const spread = (value) => (typeof value === "string" ? Object0(value) : value);

  return Object.freeze({
    power, product, shift, less, atMost, more, atLeast, careful, spread,
  });
})
