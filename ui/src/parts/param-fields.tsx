import type { Definition } from '../../../src/api/workflow/stored.ts';
import { shellQuote } from '../words/as-command.ts';
import { visibleLine } from '../words/visible-text.ts';

type Params = Definition['params'];
/** Texts by parameter. An empty one is the default. */
export type ParamValues = Readonly<Record<string, string>>;

interface ParamFieldsProps {
  params: Params;
  values: ParamValues;
  onChange: (values: ParamValues) => void;
}

/** A form made from the parameters of a stored workflow. */
export function ParamFields({ params, values, onChange }: ParamFieldsProps) {
  if (params.length === 0) return <p className="muted">It has no parameters.</p>;
  return params.map((param) => (
    <ParamField
      key={param.name}
      param={param}
      value={values[param.name] ?? ''}
      onChange={(value) => onChange({ ...values, [param.name]: value })}
    />
  ));
}

/** The values of these parameters that are not empty. */
export function givenParams(params: Params, values: ParamValues): ParamValues {
  return Object.fromEntries(
    params.map(({ name }) => [name, values[name] ?? '']).filter(([, value]) => value !== ''),
  ) as ParamValues;
}

/** The flags of the command line. What must be given and is not has a placeholder. */
export function paramFlags(params: Params, given: ParamValues): string[] {
  const missing = params.filter(({ name, required }) => required && given[name] === undefined);
  const values = { ...given, ...Object.fromEntries(missing.map(({ name }) => [name, name.toUpperCase()])) };
  return Object.entries(values).map(([name, value]) => `--param ${shellQuote(`${name}=${value}`)}`);
}

interface ParamFieldProps {
  param: Params[number];
  value: string;
  onChange: (value: string) => void;
}

function ParamField({ param, value, onChange }: ParamFieldProps) {
  const { name, type, required, description } = param;
  const initial = param.default == null ? '' : paramText(param.default);
  const options = param.enum?.map(paramText) ?? (type === 'boolean' ? ['true', 'false'] : null);
  return (
    <label className="field">
      <span>
        <b>{name}</b> <span className="faint">{type}</span>
        {required && <span className="faint">, required</span>}
        {description !== null && <span className="faint">: {visibleLine(description)}</span>}
      </span>
      {options === null ? (
        <input
          name={name}
          required={required}
          placeholder={initial}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <select name={name} required={required} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{initial === '' ? 'choose' : `${initial} (default)`}</option>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )}
    </label>
  );
}

/** A value as it is typed. */
export function paramText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
