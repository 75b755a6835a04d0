// The fence, laid last, before anything an author wrote runs. It takes away what makes code from
// text, watches objects or waits, and freezes everything that expressions share, so that nothing
// survives an evaluation.
(function (allowedText) {
  "use strict";

  const { apply, ownKeys } = Reflect;
  const {
    create, defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf,
  } = Object;
  const String0 = String;
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
  for (const name of [
    "resize", "transfer", "transferToFixedLength", "transferToImmutable", "sliceToImmutable",
  ]) {
    delete ArrayBuffer.prototype[name];
  }

  // Loops inside the engine over whatever an iterator gives, which nothing interrupts. None of this
  // is in Node 20 either.
  delete Array.fromAsync;
  delete Math.sumPrecise;
  for (const name of [
    "union", "intersection", "difference", "symmetricDifference", "isSubsetOf", "isSupersetOf",
    "isDisjointFrom",
  ]) {
    delete Set.prototype[name];
  }
  const iteratorProto = Iterator.prototype;
  for (const name of ownKeys(iteratorProto)) {
    if (name !== Symbol.iterator && name !== Symbol.toStringTag && name !== "constructor") {
      delete iteratorProto[name];
    }
  }
  for (const name of ["rawJSON", "isRawJSON"]) delete JSON[name];
  for (const name of ["columnNumber", "fileName", "lineNumber"]) delete Function.prototype[name];

  // ---------------------------------------------------------------- functions

  // What functions look like as text: those of the fence like the engine's own, and those of an
  // author as they were written, without what `writer` put between its marks.
  const ours = new WeakSet();
  const has = WeakSet.prototype.has;
  const functionToString = Function.prototype.toString;
  const { endsWith, slice } = String.prototype;
  const inserted = /\/\*\$\(\*\/.*?(?:\/\*\$\)\*\/|$)/gs;
  const replaceMatches = RegExp.prototype[Symbol.replace];
  const native = "() {\n    [native code]\n}";  // the engine's way to write it; ours is Node's
  replace(Function.prototype, "toString", {
    toString() {
      if (apply(has, ours, [this])) return `function ${this.name}() { [native code] }`;
      const text = apply(functionToString, this, []);
      if (apply(endsWith, text, [native])) {
        return `${apply(slice, text, [0, -native.length])}() { [native code] }`;
      }
      return apply(replaceMatches, inserted, [text, ""]);
    },
  }.toString);

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
    (function () { return arguments; })(), iteratorProto,
  ];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if ((typeof next !== "object" && typeof next !== "function") || next === null) continue;
    if (seen.has(next)) continue;
    seen.add(next);
    if (typeof next === "function") ours.add(next);
    freeze(next);
    waiting.push(getPrototypeOf(next));
    for (const name of ownKeys(next)) {
      const own = getOwnPropertyDescriptor(next, name);
      waiting.push(own.value, own.get, own.set);
    }
  }
})
