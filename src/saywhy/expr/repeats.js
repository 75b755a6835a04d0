// Lists in which one long text stands many times. Each is small by itself and takes hardly any
// memory, but comparing the text with another takes long, and the engine's own loops over the list
// never ask whether time is up. Where the product is large, the loop is made here instead.
(function (maxItems, search) {
  "use strict";

  const { apply, construct } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
  const { ownKeys } = Reflect;
  const { isArray } = Array;
  const RangeError0 = RangeError;

  // Characters that may be compared before the clock is looked at: some milliseconds.
  const STEP = 1 << 25;
  let spent = 0;

  function spend(characters) {
    spent += characters;
    if (spent < STEP) return;
    spent = 0;
    for (let i = 0; i < 10500; i++);  // the engine looks after ten thousand turns of a loop
  }

  function replace(owner, name, value) {
    const own = getOwnPropertyDescriptor(owner, name);
    defineProperty(value, "length", { value: own.value.length, configurable: true });
    defineProperty(owner, name, { ...own, value });
  }

  // ------------------------------------------------------------ searching

  const A = Array.prototype;

  // A list may have a million items: a text of this length is found in any of them soon enough.
  const SHORT = 32;

  function isHeavy(list, part) {
    if (typeof part !== "string" || part.length <= SHORT || isMissing(list)) return false;
    return !isArray(list) || part.length * list.length > STEP;
  }

  const isMissing = (value) => value === undefined || value === null;

  function lengthOf(list) {
    const length = Math.trunc(+list.length) || 0;
    if (length <= maxItems) return length;
    throw new RangeError0(`a list of ${length} items is too long; ${maxItems} are allowed`);
  }

  function equals(item, part) {
    if (typeof item !== "string" || item.length !== part.length) return false;
    spend(part.length);
    return item === part;
  }

  // Where to begin, as the language counts: from the end when negative.
  function start(from, length) {
    const index = Math.trunc(+from) || 0;
    return index < 0 ? length + index : index;
  }

  function forwards(list, part, from) {
    const length = lengthOf(list);
    for (let i = Math.max(start(from, length), 0); i < length; i++) if (equals(list[i], part)) return i;
    return -1;
  }

  function backwards(list, part, from) {
    const length = lengthOf(list);
    const first = from.length > 0 ? start(from[0], length) : length - 1;
    for (let i = Math.min(first, length - 1); i >= 0; i--) if (equals(list[i], part)) return i;
    return -1;
  }

  const { includes: includes0, indexOf: indexOf0, lastIndexOf: lastIndexOf0 } = A;

  // What conditions ask most: whether a short text is in a list of a few. It takes less than the
  // two looks at the clock that are made for others, so not even ten thousand of them are long.
  const FEW = 32;

  replace(A, "includes", {
    includes(part, from) {
      if (isArray(this) && this.length <= FEW && typeof part === "string" && part.length <= SHORT) {
        return search.call(this, part, from);
      }
      if (part?.length <= SHORT || !isHeavy(this, part)) return includes0.call(this, part, from);
      return forwards(this, part, from) >= 0;
    },
  }.includes);
  replace(A, "indexOf", {
    indexOf(part, from) {
      return isHeavy(this, part) ? forwards(this, part, from) : indexOf0.call(this, part, from);
    },
  }.indexOf);
  replace(A, "lastIndexOf", {
    lastIndexOf(part, ...from) {
      if (!isHeavy(this, part)) return lastIndexOf0.call(this, part, ...from);
      return backwards(this, part, from);
    },
  }.lastIndexOf);

  // -------------------------------------------------------------- sorting

  const itself = (item) => item;

  // Characters in all items, or in what stands for them, that are texts.
  function weight(list, textOf) {
    let characters = 0;
    for (let i = 0; i < list.length; i++) {
      const text = textOf(list[i]);
      if (typeof text === "string") characters += text.length;
    }
    return characters;
  }

  function byText(one, other) {
    const left = `${one}`;
    const right = `${other}`;
    spend(left.length < right.length ? left.length : right.length);
    return left < right ? -1 : left > right ? 1 : 0;
  }

  for (const name of ["sort", "toSorted"]) {
    const native = A[name];
    replace(A, name, {
      [name](compare) {
        const isLong = compare === undefined && !isMissing(this)
          && this.length > 16 && this.length <= maxItems;
        return native.call(this, isLong && weight(this, itself) > STEP / 16 ? byText : compare);
      },
    }[name]);
  }

  // ------------------------------------------------------- sets and maps

  // A map's own reading of an entry, and its own words for one that is none.
  const Map0 = Map;
  const entries0 = Map.prototype.entries;

  function pairOf(entry) {
    if (isArray(entry)) return [entry[0], entry[1]];
    return apply(entries0, construct(Map0, [[entry]]), []).next().value;
  }

  // They find a text by all of its characters, each time they are asked.
  for (const [name, keyOf] of [
    ["Set", itself],
    ["Map", (entry) => (isArray(entry) ? entry[0] : entry)],
  ]) {
    const native = globalThis[name];
    const stub = {
      [name]: function (items) {
        if (new.target === undefined) return apply(native, undefined, [items]);
        const target = new.target === stub ? native : new.target;
        const isLight = isArray(items) ? weight(items, keyOf) <= STEP : typeof items !== "object";
        if (isLight || items === null) return construct(native, items === undefined ? [] : [items], target);
        const made = construct(native, [], target);
        for (const item of items) {
          const key = keyOf(item);
          if (typeof key === "string") spend(key.length);
          if (name === "Set") made.add(key);
          else made.set(...pairOf(item));
        }
        return made;
      },
    }[name];
    takePlace(stub, native);
  }

  // The statics, prototype and place of `maker`, given to the function that stands in for it.
  function takePlace(stub, maker) {
    for (const name of ownKeys(maker)) {
      if (name !== "length" && name !== "name") {
        defineProperty(stub, name, getOwnPropertyDescriptor(maker, name));
      }
    }
    setPrototypeOf(stub, getPrototypeOf(maker));
    defineProperty(stub, "length", { value: maker.length, configurable: true });
    const own = getOwnPropertyDescriptor(maker.prototype, "constructor");
    defineProperty(maker.prototype, "constructor", { ...own, value: stub });
    const place = getOwnPropertyDescriptor(globalThis, maker.name);
    defineProperty(globalThis, maker.name, { ...place, value: stub });
  }
})
