//! Parquet: tables written as such hold what the same tables hold as .csv; builds without the feature refuse by name.

use crate::common::Folder;

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_the_feature_names_it() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n");
    folder.file("p", b"PAR1\x15\x04\x15PAR1");
    folder.file("x.parquet", b"PAR1\x15\x04\x15PAR1");
    folder.file("a", b"ARROW1\0\0\xff\xff\xff\xff");
    folder.file("x.feather", b"ARROW1\0\0\xff\xff\xff\xff");
    folder.file("s.arrows", b"\xff\xff\xff\xff\x10\0\0\0");
    let before = folder.names();
    for name in ["p", "x.parquet", "a", "x.feather", "s.arrows"] {
        let run = folder.run(&format!("info {name}"));
        assert!(run.stderr.contains("the feature `parquet`"), "{run:?}");
        run.fails(2, "--features parquet");
    }
    for command in [
        "sssp g.txt --source 1 --output x.parquet",
        "apsp g.txt --output x.parquet",
        "components g.txt --output x.parquet",
        "path g.txt 1 2 --output x.parquet",
    ] {
        let run = folder.run(command);
        assert!(run.stderr.contains("--features parquet"), "{run:?}");
        run.fails(2, "the feature `parquet`");
    }
    assert_eq!(folder.names(), before);
}

#[cfg(feature = "parquet")]
mod with_the_feature {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float32Type, Float64Type, Int64Type, UInt32Type, UInt64Type};
    use arrow_array::{Array, ArrayRef};
    use arrow_schema::DataType;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use warpath::tables::csv_fields;

    use super::*;

    /// The value in a row, as it is in a .csv.
    fn shown(array: &ArrayRef, row: usize) -> String {
        if array.is_null(row) {
            return String::new();
        }
        match array.data_type() {
            DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
            DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
            DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).to_string(),
            DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
            DataType::Float32 => array.as_primitive::<Float32Type>().value(row).to_string(),
            DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
            other => panic!("a column of {other}"),
        }
    }

    /// The names of the columns and the rows of a .parquet, and the types of its columns.
    fn parquet(folder: &Folder, name: &str) -> (Vec<Vec<String>>, Vec<DataType>) {
        let file = std::fs::File::open(folder.path().join(name)).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let fields = builder.schema().fields().clone();
        let mut rows = vec![fields.iter().map(|field| field.name().clone()).collect::<Vec<_>>()];
        for batch in builder.build().unwrap() {
            let batch = batch.unwrap();
            rows.extend((0..batch.num_rows()).map(|row| batch.columns().iter().map(|of| shown(of, row)).collect()));
        }
        (rows, fields.iter().map(|field| field.data_type().clone()).collect())
    }

    fn csv(folder: &Folder, name: &str) -> Vec<Vec<String>> {
        folder.read(name).lines().map(|line| csv_fields(line).unwrap()).collect()
    }

    #[test]
    fn a_table_holds_what_the_csv_holds_in_columns_with_types() {
        use DataType::{Float64, Int64, UInt32, UInt64, Utf8};
        let folder = Folder::new();
        folder.file("g.txt", "1 2 5\n2 3 7\n9 1 4294967295\n");
        folder.file("names.csv", "from,to,km\n\"a,b\",\"say \"\"x\"\"\",1.5\nb,a,-0.25\n\"a,b\",b,0.1\n");
        folder.file("signed.txt", "1 2 -5\n2 3 7\n");
        folder.file("list.txt", "1\n9\n");
        folder.file("pairs.csv", "1,3\n3,1\n");
        folder.file("great.txt", "18446744073709551614 1\n");
        // As many shortest paths as need more than 64 bits.
        let diamonds = |of: usize| -> String {
            (0..of)
                .map(|at| 3 * at)
                .map(|at| format!("{at} {a}\n{at} {b}\n{a} {c}\n{b} {c}\n", a = at + 1, b = at + 2, c = at + 3))
                .collect()
        };
        folder.file("diamonds.txt", diamonds(65));
        for (command, types) in [
            ("bfs g.txt --source 1 --predecessors", &[Int64, UInt32, Int64][..]),
            ("sssp g.txt --source 9", &[Int64, UInt64]),
            ("sssp g.txt --sources list.txt --predecessors", &[Int64, Int64, UInt64, Int64]),
            ("sssp g.txt --source 1 --source 9 --cutoff 6 --all-rows", &[Int64, Int64, UInt32]),
            ("sssp names.csv --source a,b --predecessors --reverse", &[Utf8, Float64, Utf8]),
            ("sssp signed.txt --source 1", &[Int64, Int64]),
            ("sssp great.txt --source 1", &[UInt64, UInt32]),
            ("apsp g.txt", &[Int64, Int64, UInt64]),
            ("apsp g.txt --successors", &[Int64, Int64, UInt64, Int64]),
            ("apsp g.txt --layout wide", &[Int64, UInt64, UInt64, UInt64, UInt64]),
            ("apsp names.csv --layout wide", &[Utf8, Float64, Float64, Float64, Float64]),
            ("apsp g.txt --reduce eccentricity", &[Int64, UInt64]),
            ("apsp names.csv --reduce closeness", &[Utf8, Float64]),
            ("apsp g.txt --reduce histogram", &[Float64, UInt64]),
            ("components names.csv", &[Utf8, UInt32]),
            ("closure g.txt", &[Int64, UInt64]),
            ("path g.txt 1 3", &[Int64, UInt64, UInt64]),
            ("path g.txt 3 1", &[Int64, UInt64, UInt64]),
            ("path signed.txt 1 3", &[Int64, Int64, Int64]),
            ("path g.txt 1 3 --k 2", &[UInt64, Int64, UInt64, UInt64]),
            ("path g.txt --pairs pairs.csv", &[Int64, Int64, Int64, UInt64, UInt64]),
        ] {
            for old in ["x.csv", "x.parquet"].map(|name| folder.path().join(name)).iter().filter(|old| old.exists()) {
                std::fs::remove_file(old).unwrap();
            }
            let code = folder.run(&format!("{command} --output x.csv --quiet")).code;
            let run = folder.run(&format!("{command} --output x.parquet --quiet"));
            assert_eq!(run.code, code, "{command}: {run:?}");
            let (rows, found) = parquet(&folder, "x.parquet");
            assert_eq!(rows, csv(&folder, "x.csv"), "{command}");
            assert_eq!(found, types, "{command}");
            assert!(folder.names().iter().all(|name| !name.ends_with(".partial")));
        }
        folder.run("bfs diamonds.txt --source 0 --count-paths --output x.parquet --quiet").ok();
        let (rows, types) = parquet(&folder, "x.parquet");
        assert_eq!(types, [Int64, UInt32, UInt64]);
        assert_eq!(rows[1 + 3], ["3", "2", "2"]);
        // No number stands for one that is too great.
        assert_eq!(rows[1 + 195], ["195", "130", ""]);
    }

    #[test]
    fn a_list_in_parquet_is_read_as_the_same_list_in_csv() {
        let folder = Folder::new();
        folder.file("g.txt", "1 2 5\n2 3 7\n9 1 4\n");
        folder.run("apsp g.txt --output all.csv --quiet").ok();
        folder.run("apsp g.txt --output all.parquet --quiet").ok();
        let answer = |graph: &str| folder.run(&format!("sssp {graph} --source 9 --output -")).ok();
        // Pairs without a distance have no weight.
        folder.run("info all.parquet").fails(2, "row 4, column `distance`: the weight is missing (null)");
        folder.run("apsp g.txt --sources list.txt --output some.parquet").fails(2, "list.txt");
        folder.file("list.txt", "9\n");
        folder.run("apsp g.txt --sources list.txt --output some.parquet --quiet").ok();
        folder.run("apsp g.txt --sources list.txt --output some.csv --quiet").ok();
        assert_eq!(answer("some.parquet"), answer("some.csv"));
        let whole = std::fs::read(folder.path().join("some.parquet")).unwrap();
        for length in [4, 9, whole.len() / 2, whole.len() - 1] {
            folder.file("cut.parquet", &whole[..length]);
            let run = folder.run("info cut.parquet");
            assert_eq!(run.stderr.matches("cut.parquet").count(), 1, "{run:?}");
            run.fails(2, "damaged or cut short");
        }
        folder.file("text.parquet", "1 2\n");
        folder.run("info text.parquet").fails(2, "this is no Parquet file");
        folder.run("bfs g.txt --source 1 --output x.parquet.gz").fails(2, "names no format for a result");
        assert!(!folder.path().join("x.parquet.gz.partial").exists());
    }

    #[test]
    fn what_fails_leaves_no_table() {
        let folder = Folder::new();
        folder.file("g.txt", "1 2 -5\n2 1 1\n");
        folder
            .run("sssp g.txt --source 1 --output x.parquet")
            .code
            .filter(|&code| code != 0)
            .expect("a negative cycle");
        assert_eq!(folder.names(), ["g.txt"]);
    }
}
