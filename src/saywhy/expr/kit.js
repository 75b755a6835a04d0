// The kit: what carries values into expressions and out of them, and answers their calls.
//
// Runs first in every context. Expressions reach nothing in here; what it needs of the engine is
// taken into local names now, and guard.js freezes the rest before an author's text is seen.
(function (maxItems, maxNodes, clock, asking) {
  "use strict";

  const { apply, ownKeys } = Reflect;
  const {
    create, defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, is, keys,
  } = Object;
  const { isArray } = Array;
  const { isInteger, isSafeInteger } = Number;
  const { parse, stringify } = JSON;
  const String0 = String;
  const Number0 = Number;
  const BigInt0 = BigInt;
  const Date0 = Date;
  const Map0 = Map;
  const Set0 = Set;
  const RegExp0 = RegExp;
  const Error0 = Error;
  const RangeError0 = RangeError;
  const ERRORS = { RangeError, ReferenceError, SyntaxError, TypeError };
  const isView = ArrayBuffer.isView;
  const { isWaiting } = asking;
  const getTime = Date.prototype.getTime;
  const objectProto = Object.prototype;
  const textOf = String.prototype.valueOf;
  const numberValueOf = Number.prototype.valueOf;
  const booleanOf = Boolean.prototype.valueOf;
  const kindOf = Object.prototype.toString;
  const find = String.prototype.indexOf;
  const symbolToString = Symbol.prototype.toString;
  const regexpToString = RegExp.prototype.toString;
  const mapEntries = Map.prototype.entries;
  const setValues = Set.prototype.values;
  const mapSize = getOwnPropertyDescriptor(Map.prototype, "size").get;
  const setSize = getOwnPropertyDescriptor(Set.prototype, "size").get;
  const regexpSource = getOwnPropertyDescriptor(RegExp.prototype, "source").get;

  // ---------------------------------------------------------------- values in

  const TAGS = [
    "$undefined", "$num", "$bigint", "$date", "$object", "$foreign", "$float", "$big",
  ];
  const isTag = create(null);
  for (const name of TAGS) isTag[name] = true;

  // Integers beyond 2**53 stay where they are, and whoever reads one is told.
  const guarded = new WeakMap();
  const digitsOf = WeakMap.prototype.get;
  const remember = WeakMap.prototype.set;

  // The number itself is not told: it may be that of a card, and errors are logged.
  function tooLarge(digits) {
    const get = function () {
      throw new RangeError0(
        "a whole number is too large for JavaScript to read exactly; keep it as text");
    };
    apply(remember, guarded, [get, digits]);
    return get;
  }

  function put(target, key, value) {
    defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  }

  function numberOf(text) {
    return text === "-0" ? -0 : Number0(text);
  }

  function reviveTag(key, value) {
    const content = value[key];
    switch (key) {
      case "$undefined": return undefined;
      case "$num": return numberOf(content);
      case "$bigint": return BigInt0(content);
      case "$date": return new Date0(content === null ? NaN : content);
      case "$object": return reviveFields(content);
      default: return reviveFields(value);  // tags of results only mean nothing here
    }
  }

  function reviveFields(target) {
    const names = ownKeys(target);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (isArray(target) && name === "length") continue;
      const value = target[name];
      if (typeof value !== "object" || value === null) continue;
      const only = isArray(value) ? undefined : keys(value);
      if (only !== undefined && only.length === 1 && only[0] === "$big") {
        const get = tooLarge(value.$big);
        defineProperty(target, name, { get, enumerable: true, configurable: true });
      } else {
        put(target, name, revive(value));
      }
    }
    return target;
  }

  function revive(value) {
    if (typeof value !== "object" || value === null) return value;
    if (!isArray(value)) {
      const names = keys(value);
      if (names.length === 1 && isTag[names[0]]) return reviveTag(names[0], value);
    }
    return reviveFields(value);
  }

  const decode = (text) => revive(parse(text));

  // --------------------------------------------------------------- values out

  // A result is a number, a boolean, null, a plain text, or a text that starts with \x01 and says
  // in its second character how to read the rest: u undefined, j JSON, t JSON with tags, f JSON
  // with things no conversation can hold.
  const MARK = "\x01";
  const MAX_DEPTH = 200;
  const MODES = "jtf";
  const SHORT = 200;
  let mode = 0;
  let nodes = 0;

  // A tag that only results have.
  function ownTag(key, content) {
    mode = 2;
    const target = create(null);
    target[key] = content;
    return target;
  }

  const foreign = (kind, data, text) => ownTag("$foreign", [kind, data, text]);

  function tag(key, content) {
    if (mode < 1) mode = 1;
    const target = create(null);
    target[key] = content;
    return target;
  }

  function encodeNumber(value) {
    if (isInteger(value)) {
      if (value === 0 && is(value, -0)) return tag("$num", "-0");
      if (isSafeInteger(value) || value === 9007199254740992 || value === -9007199254740992) {
        return value;
      }
      return ownTag("$float", String0(value));
    }
    return value - value === 0 ? value : tag("$num", String0(value));
  }

  // Python reads no longer numbers either, and writing one takes time that grows with its square.
  const LARGEST = 10n ** 4000n;

  function encodeBigInt(value) {
    if (value > LARGEST || value < -LARGEST) {
      throw new RangeError0("a BigInt of more than 4000 digits is too long");
    }
    return tag("$bigint", String0(value));
  }

  // The fence has its own way to write functions, laid when this runs.
  const functionProto = Function.prototype;
  const functionText = (value) => apply(functionProto.toString, value, []);

  function encode(value, depth) {
    switch (typeof value) {
      case "string": case "boolean": return value;
      case "number": return encodeNumber(value);
      case "undefined": return tag("$undefined", true);
      case "bigint": return encodeBigInt(value);
      case "symbol": return foreign("symbol", null, apply(symbolToString, value, []));
      case "function": return foreign("function", null, functionText(value));
    }
    return value === null ? null : encodeObject(value, depth + 1);
  }

  function encodeObject(value, depth) {
    if (depth > MAX_DEPTH) {
      throw new RangeError0(`the value is nested deeper than ${MAX_DEPTH} levels, or contains itself`);
    }
    if (++nodes > maxNodes) throw new RangeError0(`the value has more than ${maxNodes} parts`);
    if (isArray(value)) return encodeList(value, depth);
    const proto = getPrototypeOf(value);
    if (proto !== objectProto && proto !== null) {
      const other = encodeRare(value, depth);
      if (other !== undefined) return other;
    }
    const names = ownKeys(value);
    const target = create(null);
    let count = 0;
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name === "symbol") continue;
      const own = getOwnPropertyDescriptor(value, name);
      if (!own.enumerable) continue;
      count++;
      if (own.get !== undefined && apply(digitsOf, guarded, [own.get]) !== undefined) {
        put(target, name, ownTag("$big", apply(digitsOf, guarded, [own.get])));
      } else {
        put(target, name, encode(value[name], depth));
      }
    }
    return count === 1 && isTag[keys(target)[0]] ? tag("$object", target) : target;
  }

  function encodeList(value, depth) {
    const length = value.length;
    if (length > maxItems) {
      throw new RangeError0(`the list has ${length} items; ${maxItems} are allowed`);
    }
    const target = [];
    for (let i = 0; i < length; i++) {
      const own = getOwnPropertyDescriptor(value, i);
      if (own !== undefined && own.get !== undefined) {
        const digits = apply(digitsOf, guarded, [own.get]);
        if (digits !== undefined) {
          put(target, i, ownTag("$big", digits));
          continue;
        }
      }
      put(target, i, encode(value[i], depth));
    }
    return target;
  }

  function works(method, value) {
    try {
      apply(method, value, []);
      return true;
    } catch {
      return false;
    }
  }

  function encodeRare(value, depth) {
    if (value instanceof Date0 && works(getTime, value)) {
      const at = apply(getTime, value, []);
      return tag("$date", at === at ? at : null);
    }
    if (value instanceof Map0 && works(mapSize, value)) {
      const pairs = [];
      for (const [key, item] of apply(mapEntries, value, [])) {
        put(pairs, pairs.length, [encode(key, depth), encode(item, depth)]);
      }
      return foreign("map", pairs, "[object Map]");
    }
    if (value instanceof Set0 && works(setSize, value)) {
      const items = [];
      for (const item of apply(setValues, value, [])) put(items, items.length, encode(item, depth));
      return foreign("set", items, "[object Set]");
    }
    if (value instanceof RegExp0 && works(regexpSource, value)) {
      return foreign("regexp", null, apply(regexpToString, value, []));
    }
    if (isView(value)) return foreign("bytes", null, "");
    if (value instanceof Error0) return foreign("error", null, describe(value)[1]);
    return encodeBoxed(value);
  }

  // new String("x") and its like come out as what they hold; other things with a prototype of
  // their own (an instance of a class) as their fields.
  function encodeBoxed(value) {
    const kind = apply(kindOf, value, []);
    try {
      if (kind === "[object String]") return apply(textOf, value, []);
      if (kind === "[object Number]") return encodeNumber(apply(numberValueOf, value, []));
      if (kind === "[object Boolean]") return apply(booleanOf, value, []);
    } catch {
      return undefined;
    }
    if (kind === "[object Promise]") return foreign("promise", null, kind);
    return undefined;
  }

  // Most results are plain data, which needs no tags. Whatever looks unusual is left to `encode`:
  // that costs five times as much. A copy all the same, for a getter could give JSON.stringify
  // something else than what was looked at here, and a list can have a `toJSON`.
  const UNUSUAL = freeze(create(null));

  function plainCopy(value, depth) {
    switch (typeof value) {
      case "string": case "boolean": return value;
      case "number": {
        const isPlain = isSafeInteger(value) ? value !== 0 || !is(value, -0)
          : value - value === 0 && !isInteger(value);
        return isPlain ? value : UNUSUAL;
      }
      case "object": break;
      default: return UNUSUAL;
    }
    if (value === null) return null;
    if (depth >= MAX_DEPTH || ++nodes > maxNodes) return UNUSUAL;
    return isArray(value) ? plainList(value, depth + 1) : plainObject(value, depth + 1);
  }

  function plainList(value, depth) {
    const { length } = value;
    if (length > maxItems) return UNUSUAL;
    const target = [];
    for (let i = 0; i < length; i++) {
      const item = plainCopy(value[i], depth);
      if (item === UNUSUAL) return UNUSUAL;
      target[i] = item;
    }
    return target;
  }

  function plainObject(value, depth) {
    if (getPrototypeOf(value) !== objectProto) return UNUSUAL;
    const names = keys(value);
    if (names.length === 1 && isTag[names[0]] === true) return UNUSUAL;
    const target = {};
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      const item = plainCopy(value[name], depth);
      if (item === UNUSUAL || name === "__proto__") return UNUSUAL;
      target[name] = item;
    }
    return target;
  }

  function tree(value) {
    mode = 0;
    nodes = 0;
    try {
      const copy = plainCopy(value, 0);
      if (copy !== UNUSUAL) return copy;
    } catch {
      // A getter that raises: `encode` decides whether it is an error. One that calls waits.
      stopped();
    }
    nodes = 0;
    return encode(value, 0);
  }

  function write(value) {
    const json = stringify(tree(value));
    return marked(MODES[mode], json);
  }

  // Long texts that were joined may be ropes, which the binding cannot read; a slice never is one.
  function marked(kind, json) {
    const whole = MARK + kind + json;
    return whole.length > SHORT ? whole.slice(0) : whole;
  }

  function out(value) {
    if (typeof value === "string") return plain(value);
    if (typeof value === "boolean" || typeof value === "number" || value === null) return value;
    if (value === undefined) return "\x01u";
    return write(value);
  }

  // The binding loses lone surrogates and everything after a NUL, and cannot read ropes.
  function plain(value) {
    if (value.length > SHORT) value = value.slice(0);
    const isSafe = value >= "\x02" && value.isWellFormed() && find.call(value, "\0") < 0;
    return isSafe || value === "" ? value : marked("j", stringify(value));
  }

  function text(value) {
    if (typeof value === "string") return plain(value);
    if (typeof value === "object" && value !== null) {
      return plain(shown(value));
    }
    return plain(String0(value));
  }

  // The bounded way to write JSON, which bounds.js puts in place.
  const JSON0 = JSON;

  function shown(value) {
    if (typeof value !== "object" || value === null) return String0(value);
    const json = JSON0.stringify(value);
    return json === undefined ? "undefined" : json;
  }

  // ----------------------------------------------------------------- failures

  function describe(error) {
    if (typeof error === "object" && error !== null && error instanceof Error0) {
      const maker = error.constructor;
      const own = getOwnPropertyDescriptor(error, "name");  // as errors of approved functions have
      const name = typeof own?.value === "string" ? own.value
        : typeof maker === "function" ? maker.name : error.name;
      return [String0(name), String0(error.message)];
    }
    if (error === undefined || error === null) return [String0(error), String0(error)];
    const maker = error.constructor;
    const shown = typeof error === "object" ? stringify(encode(error, 0)) : String0(error);
    return [typeof maker === "function" ? String0(maker.name) : "Object", shown];
  }

  function where(error) {
    if (typeof error !== "object" || error === null) return "";
    const stack = error.stack;  // once: a getter could give something else the next time
    return typeof stack === "string" ? stack.slice(0, 2000) : "";
  }

  // What an error is made of may be an author's: it is asked here, where time is limited, and
  // nothing of it reaches the binding, which would ask again without a limit.
  function fail(error) {
    let told;
    try {
      if (pending !== "") return suspended();
      if (isWaiting()) return asking.take();
    } catch (untold) { error = untold; }  // an argument with too many parts, or inside itself
    try {
      const [name, message] = describe(error);
      told = [name.slice(0, 200), message.slice(0, 10000), where(error)];
    } catch {
      told = ["Error", "an error that cannot be shown", ""];
    }
    // The author's error calls or asks when it is looked at.
    if (pending !== "") return fail(STOP);
    if (isWaiting()) return asking.take();
    return marked("e", stringify(told));
  }

  // -------------------------------------------------------- approved functions

  // A call without an answer stops the evaluation. STOP is caught by nobody: blocks of `catch` and
  // `finally` are rewritten to begin with `stopped()`.
  const STOP = freeze(create(null));
  const NONE = freeze([]);
  let answers = NONE;  // rows: name, value, name and text of an error, changed arguments
  let asked = 0;
  let pending = "";
  let pendingArgs;

  function open(json) {
    answers = json === "" ? NONE : parse(json);
    if (!isArray(answers)) answers = revive(answers.tagged);
    asked = 0;
    pending = "";
  }

  // Nothing of it is left for the next evaluation, however this one ended.
  function close() {
    answers = NONE;
    pending = "";
    pendingArgs = undefined;
  }

  function stopped() {
    if (pending !== "" || isWaiting()) throw STOP;
  }

  // The name, how many were asked before, and the arguments, which may be anything. The call is
  // over with that: whatever is evaluated next knows nothing of it.
  function suspended() {
    const name = pending;
    const args = pendingArgs;
    pending = "";
    pendingArgs = undefined;
    const json = stringify(tree(args));
    return marked("s", `${MODES[mode]}${name}:${asked}:${json}`);
  }

  function become(target, source) {
    if (typeof target !== "object" || target === null) return source;
    if (typeof source !== "object" || source === null) return source;
    if (isArray(target) !== isArray(source) || getPrototypeOf(target) !== getPrototypeOf(source)) {
      return source;
    }
    if (isArray(target)) {
      target.length = source.length;
    } else if (getPrototypeOf(source) !== objectProto) {
      return source;
    }
    for (const name of keys(target)) if (!hasOwn(source, name)) delete target[name];
    for (const name of keys(source)) {
      const own = getOwnPropertyDescriptor(source, name);
      if (own.get !== undefined) defineProperty(target, name, own);
      else put(target, name, hasOwn(target, name) ? become(target[name], own.value) : own.value);
    }
    return target;
  }

  // What a function of the host raised: one of JavaScript's errors where it has the name of one.
  function failure(name, message) {
    if (hasOwn(ERRORS, name)) return new ERRORS[name](message);
    const error = new Error0(message);
    const own = { value: name, writable: true, enumerable: false, configurable: true };
    if (name !== "Error") defineProperty(error, "name", own);
    return error;
  }

  // What is called in place of an approved function. Bound, so that as text it is a native function
  // and not this source; all in one, since each function that a throw leaves takes its time.
  const knock = (name, ...args) => {
    if (pending !== "" || isWaiting()) throw STOP;
    if (asked >= answers.length) {
      pending = name;
      pendingArgs = args;
      throw STOP;
    }
    // By number: taking a list apart with a pattern runs an iterator.
    const answer = answers[asked++];
    if (answer[0] !== name) {
      throw new Error0(`${name} was called where ${answer[0]} was called before`);
    }
    const changed = answer[3];
    for (let i = 0; i < changed.length; i++) become(args[changed[i][0]], changed[i][1]);
    if (answer[2] !== null) throw failure(answer[2][0], answer[2][1]);
    return answer[1];
  };

  const bind = functionProto.bind;
  function door(name) {
    const bound = apply(bind, knock, [undefined, name]);
    return defineProperty(bound, "name", { value: name, configurable: true });
  }

  // The result of an expression that may have called functions: alone where it asked for all the
  // answers there are.
  function ended(value, asText) {
    if (pending !== "") return suspended();
    if (isWaiting()) return asking.take();
    if (asked !== answers.length) return changed(value, [], asText);
    return asText ? text(value) : out(value);
  }

  // The result with how many answers it asked for before it, and after it what it changed.
  function changed(value, roots, asText) {
    if (pending !== "") return suspended();
    if (isWaiting()) return asking.take();
    const json = stringify([asked, tree([asText ? shown(value) : value, ...roots])]);
    return marked("w" + MODES[mode], json);
  }

  return freeze({
    out, text, fail, decode, parse, open, close, door, stopped, ended, changed,
    asks: isWaiting,
    hear: asking.hear,
    hush: asking.hush,
    take: asking.take,
    begin: clock.begin,
    end: clock.end,
    tick: clock.tick,
  });
})
