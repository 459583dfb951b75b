/** `1 table`, `2 tables` */
export const counted = (count: number | bigint, one: string): string =>
  `${count} ${one}${Number(count) === 1 ? '' : 's'}`;
