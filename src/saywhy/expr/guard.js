// The fence, laid before anything an author wrote runs. It takes away what makes code from text,
// watches objects or waits; bounds what the engine cannot interrupt; pins time and randomness; and
// freezes everything that expressions share, so that nothing survives an evaluation.
(function (allowedText, maxItems, maxSearch, moment, random) {
  "use strict";

  const { apply, construct, ownKeys } = Reflect;
  const {
    create, defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf,
  } = Object;
  const { isArray } = Array;
  const isView = ArrayBuffer.isView;
  const Date0 = Date;
  const String0 = String;
  const RangeError0 = RangeError;
  const TypeError0 = TypeError;
  const EvalError0 = EvalError;
  const objectProto = Object.prototype;
  const global = globalThis;

  function replace(owner, name, value) {
    const own = getOwnPropertyDescriptor(owner, name);
    defineProperty(owner, name, { ...own, value });
  }

  // ---------------------------------------------------------- code from text

  // The constructors of functions stay as names, for `x instanceof Function`, but make nothing.
  function disarm(proto, name) {
    const stub = {
      [name]: function () {
        throw new EvalError0("code cannot be made from text in expressions");
      },
    }[name];
    defineProperty(stub, "prototype", { value: proto, writable: false });
    defineProperty(proto, "constructor", { value: stub, writable: false, configurable: false });
    return stub;
  }

  const FunctionStub = disarm(Function.prototype, "Function");
  disarm(getPrototypeOf(function* () {}), "GeneratorFunction");
  disarm(getPrototypeOf(async function () {}), "AsyncFunction");
  disarm(getPrototypeOf(async function* () {}), "AsyncGeneratorFunction");
  replace(global, "Function", FunctionStub);

  // Settings of the engine that would outlive an evaluation, and methods that resize memory.
  for (const name of ["prepareStackTrace", "stackTraceLimit", "captureStackTrace"]) {
    delete Error[name];
  }
  for (const name of ["resize", "transfer", "transferToFixedLength"]) delete ArrayBuffer.prototype[name];
  delete Array.fromAsync;

  // ------------------------------------------------------------------- bounds

  // Loops inside the engine are not interrupted. What makes them long is bounded instead: the
  // length of what they run over, and for searches in texts the product of both lengths.
  function check(list) {
    if (typeof list !== "object" || list === null || isView(list)) return;
    let length;
    if (isArray(list)) {
      length = list.length;
    } else {
      // An accessor could answer differently when the engine asks again.
      const own = getOwnPropertyDescriptor(list, "length");
      if (own === undefined && !("length" in list)) return;
      if (own === undefined || !("value" in own) || typeof own.value === "object") {
        throw new TypeError0("a list-like object must have its length as a plain number");
      }
      length = +own.value;
    }
    if (length > maxItems) {
      throw new RangeError0(`a list of ${length} items is too long; ${maxItems} are allowed`);
    }
  }

  const A = Array.prototype;
  const a = {};
  for (const name of ownKeys(A)) if (typeof A[name] === "function") a[name] = A[name];

  // Written out rather than generated: a method with its own parameters costs half of one with
  // `...rest`, and these are what expressions call most.
  const bounded = {
    map(f, t) { if (!isArray(this) || this.length > maxItems) check(this); return a.map.call(this, f, t); },
    filter(f, t) { if (!isArray(this) || this.length > maxItems) check(this); return a.filter.call(this, f, t); },
    forEach(f, t) { check(this); return a.forEach.call(this, f, t); },
    some(f, t) { check(this); return a.some.call(this, f, t); },
    every(f, t) { check(this); return a.every.call(this, f, t); },
    flatMap(f, t) { check(this); return a.flatMap.call(this, f, t); },
    join(separator) { check(this); return a.join.call(this, separator); },
    reverse() { check(this); return a.reverse.call(this); },
    shift() { check(this); return a.shift.call(this); },
    sort(f) { check(this); return a.sort.call(this, f); },
    toLocaleString(l, o) { check(this); return a.toLocaleString.call(this, l, o); },
    reduce(f, start) {
      check(this);
      return arguments.length > 1 ? a.reduce.call(this, f, start) : a.reduce.call(this, f);
    },
    reduceRight(f, start) {
      check(this);
      return arguments.length > 1 ? a.reduceRight.call(this, f, start) : a.reduceRight.call(this, f);
    },
  };
  for (const name of [
    "copyWithin", "fill", "lastIndexOf", "slice", "splice", "toReversed", "toSorted", "toSpliced",
    "unshift", "with",
  ]) {
    bounded[name] = { [name](...args) { check(this); return apply(a[name], this, args); } }[name];
  }

  bounded.concat = function concat(...lists) {
    check(this);
    for (let i = 0; i < lists.length; i++) {
      const list = lists[i];
      if (isArray(list)) check(list);
      else if (typeof list === "object" && list !== null && list[Symbol.isConcatSpreadable]) check(list);
    }
    return apply(a.concat, this, lists);
  };

  // In JavaScript itself, so that a list that contains itself many times over can be interrupted.
  bounded.flat = function flat(depth) {
    check(this);
    let left = depth === undefined ? 1 : Math.trunc(+depth) || 0;
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
    into(Object(this), left);
    return target;
  };

  for (const name of ownKeys(bounded)) {
    const method = bounded[name];
    if (a[name] === undefined) continue;
    defineProperty(method, "length", { value: a[name].length, configurable: true });
    replace(A, name, method);
  }

  const S = String.prototype;
  const s = {};
  for (const name of ownKeys(S)) if (typeof S[name] === "function") s[name] = S[name];

  function search(text, part) {
    if (text.length * part.length > maxSearch && part.length > 1) {
      throw new RangeError0("searching a text this long for another this long takes too much time");
    }
  }

  function plainSearch(subject, part) {
    // Both as texts once and for all, so that what is measured is what is searched.
    const isPlain = typeof part !== "object" || part === null;
    return isPlain && subject !== undefined && subject !== null;
  }

  function searching(name) {
    const native = s[name];
    const method = {
      [name](part, at) {
        let subject = this;
        if (typeof subject === "string" && typeof part === "string") {
          search(subject, part);
        } else if (plainSearch(subject, part)) {
          subject = String0(subject);
          part = String0(part);
          search(subject, part);
        } else if (subject !== undefined && subject !== null && !(part instanceof RegExp)) {
          subject = String0(subject);
          part = String0(part);
          search(subject, part);
        }
        return arguments.length > 1 ? native.call(subject, part, at) : native.call(subject, part);
      },
    }[name];
    return method;
  }

  for (const name of ["includes", "indexOf", "lastIndexOf"]) replace(S, name, searching(name));

  function splitting(name) {
    const native = s[name];
    return {
      [name](part, other) {
        if (typeof this === "string" && typeof part === "string") search(this, part);
        else if (this !== undefined && this !== null && !(part instanceof RegExp)) {
          if (part !== undefined) {
            const subject = String0(this);
            const plain = String0(part);
            search(subject, plain);
            return arguments.length > 1 ? native.call(subject, plain, other) : native.call(subject, plain);
          }
        }
        return arguments.length > 1 ? native.call(this, part, other) : native.call(this, part);
      },
    }[name];
  }

  for (const name of ["split", "replace", "replaceAll"]) replace(S, name, splitting(name));

  // Reordering of combining marks is quadratic, so long texts go through it in pieces that start
  // at letters of ASCII, before which nothing is ever reordered.
  replace(S, "normalize", {
    normalize(form) {
      if (this === undefined || this === null) return s.normalize.call(this, form);
      const subject = String0(this);
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

  // ------------------------------------------------------ time and randomness

  function Clocked(...args) {
    if (new.target === undefined) return apply(dateToString, new Date0(moment()), []);
    const target = new.target === Clocked ? Date0 : new.target;
    return args.length === 0 ? construct(Date0, [moment()], target) : construct(Date0, args, target);
  }
  const dateToString = Date0.prototype.toString;
  for (const name of ownKeys(Date0)) {
    const own = getOwnPropertyDescriptor(Date0, name);
    if (name === "length" || name === "name" || name === "prototype") own.writable = false;
    defineProperty(Clocked, name, own);
  }
  defineProperty(Clocked, "now", { value: { now: () => moment() }.now, writable: true, configurable: true });
  setPrototypeOf(Clocked, getPrototypeOf(Date0));
  replace(Date0.prototype, "constructor", Clocked);
  replace(global, "Date", Clocked);
  replace(Math, "random", { random: () => random() }.random);

  // ------------------------------------------------------------------- freeze

  const allowed = create(null);
  for (const name of allowedText.split(" ")) allowed[name] = true;
  for (const name of ownKeys(global)) {
    if (typeof name === "symbol" || allowed[name] !== true) delete global[name];
  }

  // Freezing a prototype would forbid `{}.toString = 1` as well, since a frozen property upstream
  // cannot be covered by assignment. These become accessors that cover themselves on request.
  function coverable(proto, name) {
    const own = getOwnPropertyDescriptor(proto, name);
    if (own === undefined || !("value" in own) || !own.configurable) return;
    const { value } = own;
    defineProperty(proto, name, {
      get() { return value; },
      set(other) {
        if (this === proto) throw new TypeError0(`${String0(name)} is built in and cannot be changed`);
        defineProperty(this, name, {
          value: other, writable: true, enumerable: true, configurable: true,
        });
      },
      enumerable: own.enumerable,
      configurable: false,
    });
  }

  for (const name of ownKeys(objectProto)) coverable(objectProto, name);
  for (const maker of [
    Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError,
  ]) {
    for (const name of ["constructor", "name", "message", "toString"]) coverable(maker.prototype, name);
  }

  const seen = new WeakSet();
  const waiting = [
    global, getPrototypeOf(function* () {}), getPrototypeOf(async function () {}),
    getPrototypeOf(async function* () {}), [][Symbol.iterator](), ""[Symbol.iterator](),
    new Map().entries(), new Set().values(), "".matchAll(/x/g), FunctionStub,
    (function () { return arguments; })(), Iterator.from({ next() {} }),
    [].values().map((x) => x),
  ];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if ((typeof next !== "object" && typeof next !== "function") || next === null) continue;
    if (seen.has(next)) continue;
    seen.add(next);
    freeze(next);
    waiting.push(getPrototypeOf(next));
    for (const name of ownKeys(next)) {
      const own = getOwnPropertyDescriptor(next, name);
      waiting.push(own.value, own.get, own.set);
    }
  }
})
