{-# LANGUAGE OverloadedStrings #-}
-- | The experiment goget in SQLite by HDBC: two tables, statements prepared once, rows as HDBC's values.
module Main (main) where

import Control.Monad (forM_, when)
import Data.Foldable (foldl')
import Data.Text (Text)
import Database.HDBC hiding (run)
import Database.HDBC.Sqlite3 (connectSqlite3)
import System.Directory (doesFileExist)

import Accounts
import Protocol

data Item = Item !Text !Text !Int !Int
data Account = Account !Int !Text !Text [Item]

main :: IO ()
main = serve $ \hello -> do
  let file = directory hello ++ "/accounts.sqlite3"
  old <- doesFileExist file
  db <- connectSqlite3 file
  -- HDBC is always in a transaction; how the file is written can be set outside of one only.
  runRaw db "COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144; BEGIN"
  when (not old) $ do
    runRaw db "CREATE TABLE accounts (id BIGINT PRIMARY KEY, name VARCHAR(80) NOT NULL UNIQUE, passphrase VARCHAR(80) NOT NULL)"
    runRaw db "CREATE TABLE items (account BIGINT NOT NULL, place INTEGER NOT NULL, name VARCHAR(80) NOT NULL, \
              \comment VARCHAR(80) NOT NULL, status INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (account, place))"
    commit db
  create <- prepare db "INSERT INTO accounts (id, name, passphrase) VALUES (?, ?, ?)"
  byId <- prepare db (joined ++ "WHERE a.id = ? ORDER BY i.place")
  byName <- prepare db (joined ++ "WHERE a.name = ? ORDER BY i.place")
  list <- prepare db (joined ++ "ORDER BY a.id, i.place")
  add <- prepare db "INSERT INTO items (account, place, name, comment, status, count) VALUES (?, ?, ?, ?, ?, ?)"
  change <- prepare db "UPDATE items SET name = ?, comment = ?, status = ?, count = ? WHERE account = ? AND place = ?"
  update <- prepare db "UPDATE accounts SET passphrase = ? WHERE id = ?"
  deleteItems <- prepare db "DELETE FROM items WHERE account = ?"
  delete <- prepare db "DELETE FROM accounts WHERE id = ?"
  let ask statement parameters = execute statement parameters >> accounts <$> fetchAllRows' statement
      one statement parameters = do
        touched <- execute statement parameters
        when (touched /= 1) $ fail ("one row was to be written, not " ++ show touched)
      written act = act >> commit db >> pure []
  pure Subject
    { about = "HDBC-sqlite3 2.3"
    , settings = "journal_mode=WAL, synchronous=FULL, a cache of 256 MiB; statements prepared once; HDBC begins the next transaction at once"
    , setUp = \_ lines' -> do
        forM_ [[iToSql (number i), toSql n, toSql p] | [_, i, n, p] <- lines'] (execute create)
        commit db
    , operation = operations
    , run = \wanted -> case wanted of
        New i n p -> written $ one create [iToSql i, toSql n, toSql p]
        Get i -> ask byId [iToSql i]
        Name n -> ask byName [toSql n]
        List -> ask list []
        Add i (n, c, s, k) -> written $ do
          found <- ask byId [iToSql i]
          case found of
            [Account _ _ _ items] -> one add [iToSql i, iToSql (length items), toSql n, toSql c, iToSql s, iToSql k]
            _ -> fail ("no account " ++ show i)
        Change i place (n, c, s, k) -> written $ one change [toSql n, toSql c, iToSql s, iToSql k, iToSql i, iToSql place]
        Update i p -> written $ one update [toSql p, iToSql i]
        Delete i -> written $ execute deleteItems [iToSql i] >> one delete [iToSql i]
    , weigh = foldl' (\sum' account -> sum' + weight account) 0
    , endBatch = commit db -- a transaction of reads
    , rows = concatMap lines_
    , close = commit db >> mapM_ finish [create, byId, byName, list, add, change, update, deleteItems, delete] >> disconnect db
    }
  where
    joined = "SELECT a.id, a.name, a.passphrase, i.name, i.comment, i.status, i.count FROM accounts a \
             \LEFT JOIN items i ON i.account = a.id "

-- | Accounts of the rows of a join, each with its items.
accounts :: [[SqlValue]] -> [Account]
accounts [] = []
accounts all'@((i : n : p : _) : _) = Account (fromSql i) (fromSql n) (fromSql p) (concatMap item own) : accounts others
  where
    (own, others) = span (\row -> take 1 row == [i]) all'
    item [_, _, _, SqlNull, _, _, _] = []
    item [_, _, _, name, comment, status, count] = [Item (fromSql name) (fromSql comment) (fromSql status) (fromSql count)]
    item _ = []
accounts _ = []

weight :: Account -> Int
weight (Account i n p items) = foldl' (\sum' (Item m c s k) -> sum' + itemWeight m c s k) (accountWeight i n p) items

lines_ :: Account -> [Fields]
lines_ (Account i n p items) =
  ["account", decimal i, n, p] : [["item", m, c, decimal s, decimal k] | Item m c s k <- items]
