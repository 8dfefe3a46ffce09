/** What was worked out once for a key, kept as long as its map is. */

interface Known<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

export function kept<K, V>(known: Known<K, V>, key: K, make: () => V): V {
  const old = known.get(key);
  if (old !== undefined) return old;
  const made = make();
  known.set(key, made);
  return made;
}
