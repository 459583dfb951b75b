import type { Member, Outline, OutlinedParameter } from '../../../http/openapi/outline.js';
import classes from './page.module.css';

export function Shape({ shape: { name, description, members, type } }: { shape: Outline['shapes'][number] }) {
  return (
    <details className={classes.shape} id={`shape-${name}`}>
      <summary>{name}</summary>
      {description !== '' && (
        <p>
          <Words>{description}</Words>
        </p>
      )}
      {members.length === 0 ? <p>{typeText(type)}</p> : <Members of={members} label={`Members of ${name}`} />}
    </details>
  );
}

/** Text in backticks is code. */
export const Words = ({ children }: { children: string }) =>
  children
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 0 ? part : <code key={`${index} ${part}`}>{part}</code>));

/** The outline has names of shapes in angle brackets. */
export const typeText = (type: string): string => type.replaceAll(/<(\w+)>/g, '$1');

/** @param props.label for screen readers */
export function Members({ of, label }: { of: readonly (Member | OutlinedParameter)[]; label: string }) {
  return (
    <div className={classes.scroller} role="region" aria-label={label} tabIndex={0}>
      <table className={classes.members}>
        <thead>
          <tr>
            {['Name', 'In', 'Type', 'Description'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {of.map((member) => (
            <tr key={`${placeOf(member)} ${member.name}`}>
              <th scope="row">
                <code>{member.name}</code>
              </th>
              <td>{placeOf(member)}</td>
              <td>{typeText(member.type)}</td>
              <td>
                <Words>{member.description}</Words>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const placeOf = (member: Member | OutlinedParameter): string =>
  'in' in member ? member.in : member.required ? 'required' : 'optional';
